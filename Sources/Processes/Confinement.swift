import CProcess
import Foundation
import SystemCalls
import SystemPackage

/// Restrictions that the kernel enforces on a process that handles untrusted data, in addition to its resource limits.
/// They need no rights, and the process cannot lift them again. The kernel may lack either of the two mechanisms:
/// Landlock, which denies access to files and the network, and seccomp, which denies system calls.
public enum Confinement {
    /// The mechanisms that the kernel offers.
    public struct Support: Sendable, Equatable {
        /// The version of Landlock's interface; `nil` without Landlock. Version 4 (Linux 6.7) and later also deny TCP.
        public var landlock: Int?
        /// True if system calls can be filtered.
        public var hasSeccomp: Bool

        public init(landlock: Int?, hasSeccomp: Bool) { (self.landlock, self.hasSeccomp) = (landlock, hasSeccomp) }

        /// The mechanisms of the running kernel. A mechanism that is switched off, or denied to this process by its
        /// surroundings, counts as missing.
        public static var ofThisKernel: Support {
            let version = cprocess_landlock_version()
            return Support(
                landlock: version > 0 ? Int(version) : nil,
                hasSeccomp: cprocess_architecture != 0 && cprocess_seccomp_is_available() == 0)
        }
    }

    /// Confines this process to computing on what it has in memory and in its open descriptors. From then on, it can
    /// open no file, use no network, start no program and affect no other process; such calls fail with EPERM or
    /// EACCES. Everything that it needs, such as libraries, must be loaded before. What the kernel does not offer is
    /// left out.
    ///
    /// Landlock restricts the calling thread and the threads that it starts later; seccomp restricts all threads.
    ///
    /// - Throws: ``ProcessError`` if the kernel offers a mechanism but does not apply it.
    public static func confineThisProcess(_ support: Support = .ofThisKernel) throws(ProcessError) {
        // Both mechanisms require this: a program with more rights, such as sudo, could be misled by the restrictions.
        guard cprocess_allow_no_new_privileges() == 0 else { throw ProcessError("prctl", .current) }
        if let version = support.landlock { try Landlock.restrict(version: version) }
        if support.hasSeccomp { try SystemCallFilter.apply() }
    }
}

/// Denies access to files and the network. Source: landlock(7).
private enum Landlock {
    /// The access to files that each version can deny: its lowest bits. Version 2 added the change of a file's folder,
    /// version 3 truncation, and version 5 the ioctl calls of devices.
    private static func fileAccess(version: Int) -> UInt64 {
        let bits = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13
        return (1 << bits) - 1
    }

    static func restrict(version: Int) throws(ProcessError) {
        // TCP: bind and connect. Scopes: abstract UNIX sockets and signals of other processes.
        var attributes = cprocess_landlock_ruleset(
            handled_access_fs: fileAccess(version: version), handled_access_net: version >= 4 ? 0b11 : 0,
            scoped: version >= 6 ? 0b11 : 0)
        let ruleset = cprocess_landlock_create(&attributes)
        guard ruleset >= 0 else { throw ProcessError("landlock_create_ruleset", .current) }
        defer { close(ruleset) }
        guard cprocess_landlock_restrict(ruleset) == 0 else {
            throw ProcessError("landlock_restrict_self", .current)
        }
    }
}

/// The filter that denies all system calls but those of a process that only computes. Sources: seccomp(2), and
/// filter.rst of the kernel for the instructions.
private enum SystemCallFilter {
    static func apply() throws(ProcessError) {
        var program = program(process: getpid())
        let status = program.withUnsafeMutableBufferPointer { instructions in
            var filter = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
            return cprocess_seccomp_filter(&filter)
        }
        // A positive number is that of a thread to which the filter could not be applied.
        guard status == 0 else { throw ProcessError("seccomp", status < 0 ? .current : .permissionDenied) }
    }

    private static func program(process: pid_t) -> [sock_filter] {
        var count = 0
        let calls = cprocess_computing_calls(&count)
        let computing = UnsafeBufferPointer(start: calls, count: count)
        let rules: [[sock_filter]] = [
            [load(architecture), skip(1, ifEqual: cprocess_architecture), end(SECCOMP_RET_KILL_PROCESS), load(number)],
            computing.flatMap { call in on(call, [end(allowed)]) },
            // No memory that is executed, and none that is shared, which RLIMIT_DATA would not count.
            on(cprocess_mprotect, unless(argument: 2, has: PROT_EXEC, [end(allowed)])),
            on(
                cprocess_mmap,
                unless(argument: 2, has: PROT_EXEC, unless(argument: 3, has: MAP_SHARED, [end(allowed)]))),
            // Threads, but no processes. The flags of clone3 are in memory, where a filter cannot see them; without it,
            // glibc uses clone.
            on(cprocess_clone, [load(argument(0)), skip(1, ifAny: UInt32(CLONE_THREAD)), end(denied), end(allowed)]),
            on(cprocess_clone3, [end(SECCOMP_RET_ERRNO | UInt32(ENOSYS))]),
            // Signals to itself: abort() raises SIGABRT.
            on(cprocess_tgkill, [load(argument(0)), skip(1, ifEqual: UInt32(process)), end(denied), end(allowed)]),
            [end(denied)],
        ]
        return Array(rules.joined())
    }

    private static let allowed = SECCOMP_RET_ALLOW
    private static let denied = SECCOMP_RET_ERRNO | UInt32(EPERM)

    /// The positions in `struct seccomp_data`. Only the lower half of an argument is loaded; both supported
    /// architectures store it first.
    private static let (number, architecture): (UInt32, UInt32) = (0, 4)
    private static func argument(_ index: UInt32) -> UInt32 { 16 + 8 * index }

    /// Runs these instructions, which must end the filter, if the call has this number.
    private static func on(_ call: Int32, _ instructions: [sock_filter]) -> [sock_filter] {
        [jump(BPF_JEQ, UInt32(call), ifTrue: 0, ifFalse: UInt8(instructions.count))] + instructions
    }

    /// Runs these instructions, which must end the filter, unless the argument has this bit; then the call is denied.
    private static func unless(
        argument index: UInt32, has bit: Int32, _ instructions: [sock_filter]
    ) -> [sock_filter] {
        [load(argument(index)), skip(UInt8(instructions.count), ifAny: UInt32(bit))] + instructions + [end(denied)]
    }

    private static func load(_ position: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: position)
    }
    private static func skip(_ count: UInt8, ifEqual value: UInt32) -> sock_filter {
        jump(BPF_JEQ, value, ifTrue: count, ifFalse: 0)
    }
    private static func skip(_ count: UInt8, ifAny bits: UInt32) -> sock_filter {
        jump(BPF_JSET, bits, ifTrue: count, ifFalse: 0)
    }
    private static func jump(_ test: Int32, _ value: UInt32, ifTrue: UInt8, ifFalse: UInt8) -> sock_filter {
        sock_filter(code: UInt16(BPF_JMP | test | BPF_K), jt: ifTrue, jf: ifFalse, k: value)
    }
    private static func end(_ action: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: action)
    }
}

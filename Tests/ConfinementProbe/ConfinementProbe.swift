import Foundation
import Processes

/// Confines itself, then tries what a photo that has compromised its reader might try, and prints the outcome of each
/// attempt. The tests of Processes start it, with the mechanisms to use as arguments.
@main
enum ConfinementProbe {
    static func main() throws {
        var support = Confinement.Support.ofThisKernel
        let mechanisms = CommandLine.arguments.dropFirst()
        if !mechanisms.contains("landlock") { support.landlock = nil }
        if !mechanisms.contains("seccomp") { support.hasSeccomp = false }
        try Confinement.confineThisProcess(support)
        for (name, attempt) in attempts {
            errno = 0
            print("\(name): \(attempt() ? "done" : errno == EPERM || errno == EACCES ? "refused" : "errno \(errno)")")
        }
    }

    /// Each attempt returns true if it succeeded.
    private static let attempts: [(name: String, attempt: @Sendable () -> Bool)] = [
        ("read a file", { open("/etc/passwd", O_RDONLY) >= 0 }),
        ("write a file", { open("/dev/null", O_WRONLY) >= 0 }),
        ("list a folder", { opendir("/") != nil }),
        ("create a file", { mkdir("/tmp/bookplate-probe-\(getpid())", 0o700) == 0 }),
        // Nothing listens on port 9, which an attempt that is not refused reports as ECONNREFUSED.
        ("connect", { connect(to: 9) }),
        ("create a socket", { socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) >= 0 }),
        ("start a program", { start("/bin/true") }),
        ("change another process", { kill(getppid(), 0) == 0 }),
        ("share memory", { isMapped(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) }),
        ("execute memory", { isMapped(mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) }),
        // What a process that decodes a photo does.
        ("allocate memory", { isMapped(mmap(nil, 1 << 24, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) }),
        ("start a thread", { startThread() }),
    ]

    private static func connect(to port: UInt16) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeBytes(of: &address) {
            Glibc.connect(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count)) == 0
        }
    }

    private static func start(_ path: String) -> Bool {
        var id: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
        let status = posix_spawn(&id, path, nil, nil, &arguments, nil)
        errno = status
        return status == 0
    }

    private static func isMapped(_ memory: UnsafeMutableRawPointer?) -> Bool { memory != MAP_FAILED }

    private static func startThread() -> Bool {
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { _ in nil }, nil)
        errno = status
        return status == 0 && pthread_join(thread, nil) == 0
    }
}

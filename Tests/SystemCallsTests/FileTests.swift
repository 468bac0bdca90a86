import SystemCalls
import Glibc
import SystemPackage
import TestTools
import Testing

@Suite struct `A file that is replaced` {
    let folder: Scratch
    init() throws { folder = try Scratch() }

    @Test func `has the new bytes and the requested mode, and nothing is left beside it`() throws {
        let path = folder.file("a.json")
        try replaceFile(path, with: Array("old, and longer".utf8), mode: 0o600)
        try replaceFile(path, with: Array("new".utf8), mode: 0o600)
        #expect(try readFile(path, limit: 100) == Array("new".utf8))
        #expect(fileNames(in: folder.path) == ["a.json"])
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    }

    @Test func `has the requested mode whatever the umask is`() async throws {
        // In a process of its own, because the umask holds for all threads.
        await #expect(processExitsWith: .success) {
            let folder = try Scratch()
            umask(0o077)
            try replaceFile(folder.file("a"), with: [1], mode: 0o660)
            var facts = stat()
            guard stat(folder.file("a"), &facts) == 0, facts.st_mode & 0o777 == 0o660 else { exit(1) }
        }
    }

    @Test func `reports its own path if its folder is missing`() {
        #expect(throws: FileError(path: folder.file("none/a"), errno: .noSuchFileOrDirectory)) {
            try replaceFile(folder.file("none/a"), with: [1], mode: 0o600)
        }
    }

    @Test func `leaves no partial file if it cannot take the path`() throws {
        #expect(mkdir(folder.file("a"), 0o700) == 0)
        #expect(throws: FileError(path: folder.file("a"), errno: .isDirectory)) {
            try replaceFile(folder.file("a"), with: [1], mode: 0o600)
        }
        #expect(fileNames(in: folder.path) == ["a"])
    }

    @Test func `stays as it was if a write is cut short`() async throws {
        // In a process of its own, because the limit holds for all threads.
        await #expect(processExitsWith: .success) {
            let folder = try Scratch()
            let path = folder.file("a")
            try replaceFile(path, with: Array("old".utf8), mode: 0o600)
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            do throws(FileError) {
                // write(2) stores 1000 of the bytes, and only the next call fails.
                try replaceFile(path, with: repeatElement(1, count: 1500), mode: 0o600)
                exit(1)
            } catch {
                guard error == FileError(path: path, errno: .fileTooLarge) else { exit(2) }
            }
            guard try readFile(path, limit: 100) == Array("old".utf8) else { exit(3) }
            guard fileNames(in: folder.path) == ["a"] else { exit(4) }
        }
    }

    @Test func `is synced with its folder if the file system can sync folders, and otherwise that is no error`() throws
    {
        // Like some FUSE file systems, procfs answers EINVAL to an fsync of a folder.
        let proc = try FileDescriptor.open("/proc", .readOnly)
        #expect(fsync(proc.rawValue) == -1 && Errno.current == .invalidArgument)
        try proc.close()
        try syncFolder(of: "/proc/version")
        #expect(throws: FileError(path: "/proc/none", errno: .noSuchFileOrDirectory)) {
            try syncFolder(of: "/proc/none/x")
        }
    }

    @Test(arguments: [("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b", "a")])
    func `has a folder`(path: String, expected: String) { #expect(SystemCalls.folder(of: path) == expected) }
}

@Suite struct `Reading a file or folder` {
    let folder: Scratch
    init() throws { folder = try Scratch() }

    @Test func `stops at the limit`() throws {
        try replaceFile(folder.file("a"), with: [1, 2, 3], mode: 0o600)
        #expect(try readFile(folder.file("a"), limit: 2) == [1, 2])
        #expect(try readFile(folder.file("a"), limit: 0).isEmpty)
        #expect(throws: FileError(path: folder.file("b"), errno: .noSuchFileOrDirectory)) {
            try readFile(folder.file("b"), limit: 2)
        }
    }

    @Test func `gives no names for a folder that cannot be read`() throws {
        #expect(fileNames(in: folder.path).isEmpty)
        #expect(fileNames(in: folder.file("none")).isEmpty)
        #expect(throws: FileError(path: folder.file("none"), errno: .noSuchFileOrDirectory)) {
            try storedNames(in: folder.file("none"))
        }
    }

    @Test func `gives names that are not text as they are stored`() throws {
        let name: [UInt8] = [0x61, 0xFF]
        let path = FilePath(bytes: Array(folder.file("").utf8) + name)
        #expect(path.withPlatformString { mkdir($0, 0o700) } == 0)
        #expect(try storedNames(in: folder.path) == [name])
        #expect(try storedNames(in: path).isEmpty)
    }
}

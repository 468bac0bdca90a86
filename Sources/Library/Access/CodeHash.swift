import CCrypt
import Dispatch
import Glibc

/// The slow hash of an access code: yescrypt, or what libcrypt has in its place.
///
/// One at a time, on a thread that serves nothing else: a hash takes tens of milliseconds and 16 MiB, so that many codes at once take
/// neither the memory nor the threads that answer requests.
enum CodeHash {
    private static let queue = DispatchQueue(label: "bookplate.access-code")

    /// - Returns: method, cost, salt and hash as crypt(5) writes them.
    /// - Throws: ``LibraryError`` when libcrypt has no method or the machine no memory for it.
    static func make(of code: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try hash(code, setting: newSetting()) })
            }
        }
    }

    /// - Throws: ``LibraryError`` when it cannot be told: no memory, or a method that this machine's libcrypt does not know.
    static func isHash(_ stored: String, of code: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { Secret.areEqual(try hash(code, setting: stored), stored) })
            }
        }
    }

    /// yescrypt, scrypt, SHA-512 with rounds: the first that there is, with the cost that libcrypt gives it.
    private static func newSetting() throws -> String {
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        for method in ["$y$", "$7$", "$6$"]
        where crypt_gensalt_rn(method, 0, nil, 0, &setting, Int32(setting.count)) != nil {
            return text(of: setting)
        }
        throw LibraryError.accessCode(errno: errno)
    }

    private static func hash(_ code: String, setting: String) throws -> String {
        // crypt_data is 32 KiB: too much for the stack of a small thread.
        let size = MemoryLayout<crypt_data>.size
        let data = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<crypt_data>.alignment)
        data.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            explicit_bzero(data, size)
            data.deallocate()
        }
        guard let hash = crypt_rn(code, setting, data, Int32(size)) else { throw LibraryError.accessCode(errno: errno) }
        return String(cString: hash)
    }

    private static func text(of characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

import COpenSSL

/// The functions of OpenSSL 3, whose library is opened when it is first needed.
///
/// `@unchecked` is safe because the table is filled in before several threads use it, and is only read afterwards. The
/// objects of OpenSSL that threads share (certificates, keys and contexts) are counted by atomic operations, and nobody
/// changes them after they were made.
struct OpenSSL: @unchecked Sendable {
    let table: UnsafePointer<copenssl>

    private static let shared = open("libssl.so.3")

    /// - Throws: ``OpenSSLError/missing(_:)``
    static func opened() throws(OpenSSLError) -> OpenSSL { try shared.get() }

    /// - Parameter file: the library's name or path, as dlopen() takes it.
    static func open(_ file: String) -> Result<OpenSSL, OpenSSLError> {
        let table = UnsafeMutablePointer<copenssl>.allocate(capacity: 1)
        table.initialize(to: copenssl())
        if let cause = copenssl_open(table, file) {
            table.deallocate()
            return .failure(.missing(String(cString: cause)))
        }
        // OpenSSL releases nothing at the end of the program, because other threads may still use it.
        _ = table.pointee.OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        return .success(OpenSSL(table: table))
    }

    /// Returns the reason why the last function failed, which OpenSSL keeps for each thread, and forgets it.
    ///
    /// - Parameter action: what the function should have done, such as "read the certificate".
    func failure(_ action: String) -> OpenSSLError {
        let reason = table.pointee.ERR_reason_error_string(table.pointee.ERR_peek_error())
        table.pointee.ERR_clear_error()
        return .failed(action: action, reason: reason.map { String(cString: $0) })
    }

    /// Returns the object that a function has made.
    ///
    /// - Throws: ``OpenSSLError/failed(action:reason:)`` if it has made none.
    func made<Object>(_ object: Object?, _ action: String) throws(OpenSSLError) -> Object {
        guard let object else { throw failure(action) }
        return object
    }

    /// - Throws: ``OpenSSLError/failed(action:reason:)`` if the function has returned no positive number.
    func check(_ result: Int32, _ action: String) throws(OpenSSLError) {
        guard result > 0 else { throw failure(action) }
    }

    /// Runs `body` with a BIO, OpenSSL's byte stream, that reads these bytes.
    func withReader<Value>(
        of bytes: [UInt8], _ body: (OpaquePointer) throws(OpenSSLError) -> Value
    ) throws(OpenSSLError) -> Value {
        // BIO_new_mem_buf() does not copy the bytes, which therefore stay in place until it is freed.
        let result: Result<Value, OpenSSLError> = bytes.withUnsafeBytes { bytes in
            guard let reader = table.pointee.BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                return .failure(failure("allocate memory"))
            }
            defer { _ = table.pointee.BIO_free(reader) }
            return Result { () throws(OpenSSLError) in try body(reader) }
        }
        return try result.get()
    }

    /// Returns the text that a function writes to a BIO.
    func text(_ write: (OpaquePointer) -> Int32) throws(OpenSSLError) -> String {
        let stream = try made(table.pointee.BIO_new(table.pointee.BIO_s_mem()), "allocate memory")
        defer { _ = table.pointee.BIO_free(stream) }
        try check(write(stream), "write PEM")
        let count = table.pointee.BIO_ctrl_pending(stream)
        return String(unsafeUninitializedCapacity: count) { bytes in
            var read = 0
            _ = table.pointee.BIO_read_ex(stream, bytes.baseAddress, count, &read)
            return read
        }
    }
}

/// The reason why OpenSSL did not do what it should.
public enum OpenSSLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The library cannot be opened.
    ///
    /// - Parameter cause: the loader's message.
    case missing(_ cause: String)
    case failed(action: String, reason: String?)
    case keyHasPassword

    public var description: String {
        switch self {
        case .missing(let cause): "https needs OpenSSL 3, which is missing (\(cause)); install the package libssl3"
        case .failed(let action, let reason): "cannot \(action)" + (reason.map { ": \($0)" } ?? "")
        case .keyHasPassword: "the key has a password"
        }
    }
}

import COpenSSL

/// The certificate, key and rules with which a server speaks TLS 1.2 and 1.3 (RFC 5246, 8446) for HTTP/1.1.
///
/// `@unchecked` is safe because nobody changes a context after it was made; see ``OpenSSL``.
public final class TLSContext: @unchecked Sendable {
    let ssl: OpenSSL
    let pointer: OpaquePointer

    /// - Parameters:
    ///   - chain: the certificates in PEM, the server's first.
    ///   - key: the private key in PEM.
    /// - Throws: ``OpenSSLError`` if they cannot be used, for instance because a key is too short.
    public init(chain: String, key: String) throws(OpenSSLError) {
        ssl = try OpenSSL.opened()
        let functions = ssl.table.pointee
        pointer = try ssl.made(functions.SSL_CTX_new(functions.TLS_server_method()), "begin with TLS")
        try ssl.check(copenssl_configure(ssl.table, pointer), "limit TLS to versions 1.2 and 1.3")
        let (certificates, key) = (try Certificate.all(inPEM: chain), try PrivateKey(pem: key))
        guard !certificates.isEmpty else { throw .failed(action: "use the certificate", reason: "there is none") }
        for (index, certificate) in certificates.enumerated() {
            let result = withExtendedLifetime(certificate) {
                index == 0
                    ? functions.SSL_CTX_use_certificate(pointer, certificate.pointer)
                    : copenssl_add_to_chain(ssl.table, pointer, certificate.pointer)
            }
            try ssl.check(result, "use the certificate")
        }
        let result = withExtendedLifetime(key) { functions.SSL_CTX_use_PrivateKey(pointer, key.pointer) }
        try ssl.check(result, "use the private key")
        functions.SSL_CTX_set_alpn_select_cb(
            pointer, { copenssl_choose_http($0, $1, $2, $3, $4, $5) }, UnsafeMutableRawPointer(mutating: ssl.table))
    }

    deinit { ssl.table.pointee.SSL_CTX_free(pointer) }
}

/// The server's side of one TLS connection, between two streams of bytes in memory. It knows no socket, and belongs to
/// one thread at a time.
public struct TLSSession: ~Copyable {
    private let context: TLSContext
    private let session: OpaquePointer
    /// The bytes from and to the client, which the session owns.
    private let (received, sent): (OpaquePointer, OpaquePointer)

    public init(_ context: TLSContext) throws(OpenSSLError) {
        let table = context.ssl.table
        let session = try context.ssl.made(table.pointee.SSL_new(context.pointer), "begin with TLS")
        guard let received = table.pointee.BIO_new(table.pointee.BIO_s_mem()),
            let sent = table.pointee.BIO_new(table.pointee.BIO_s_mem())
        else {
            table.pointee.SSL_free(session)
            throw context.ssl.failure("allocate memory")
        }
        table.pointee.SSL_set_bio(session, received, sent)
        table.pointee.SSL_set_accept_state(session)
        (self.context, self.session, self.received, self.sent) = (context, session, received, sent)
    }

    deinit { context.ssl.table.pointee.SSL_free(session) }

    private var table: UnsafePointer<copenssl> { context.ssl.table }

    /// Takes bytes that the client has sent.
    public mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(OpenSSLError) {
        guard !bytes.isEmpty else { return }
        var written = 0
        try context.ssl.check(
            table.pointee.BIO_write_ex(received, bytes.baseAddress, bytes.count, &written), "allocate memory")
    }

    public enum ReadResult: Equatable {
        /// The number of decrypted bytes.
        case bytes(Int)
        /// More bytes from the client are needed.
        case needsMore
        /// The client will send nothing more.
        case ended
    }

    /// Decrypts what has been received, and goes on with the handshake.
    ///
    /// - Throws: ``OpenSSLError/failed(action:reason:)`` if the client does not keep to TLS. An alert for it is then
    ///   ready to be sent.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> ReadResult {
        var count = 0
        table.pointee.ERR_clear_error()
        let result = table.pointee.SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        switch table.pointee.SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .needsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: throw context.ssl.failure("go on with TLS")
        }
    }

    /// Encrypts bytes.
    ///
    /// - Throws: ``OpenSSLError/failed(action:reason:)`` unless the handshake is complete.
    public mutating func write(_ bytes: UnsafeRawBufferPointer) throws(OpenSSLError) {
        guard !bytes.isEmpty else { return }
        var written = 0
        table.pointee.ERR_clear_error()
        try context.ssl.check(
            table.pointee.SSL_write_ex(session, bytes.baseAddress, bytes.count, &written), "encrypt")
    }

    /// Ends the server's side with a close_notify (RFC 8446, 6.1): nothing can be written afterwards. Before the
    /// handshake is complete, there is none.
    public mutating func end() {
        _ = table.pointee.SSL_shutdown(session)
        table.pointee.ERR_clear_error()
    }

    /// The number of bytes that are ready to be sent to the client.
    public var outputCount: Int { table.pointee.BIO_ctrl_pending(sent) }

    /// Takes bytes that are ready to be sent to the client.
    ///
    /// - Returns: their number.
    public mutating func takeOutput(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        _ = table.pointee.BIO_read_ex(sent, buffer.baseAddress, buffer.count, &count)
        return count
    }
}

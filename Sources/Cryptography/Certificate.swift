import COpenSSL
import FoundationEssentials
import Glibc

/// A private key.
///
/// `@unchecked` is safe because nobody changes a key after it was made; see ``OpenSSL``.
public final class PrivateKey: @unchecked Sendable {
    let ssl: OpenSSL
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer, _ ssl: OpenSSL) { (self.pointer, self.ssl) = (pointer, ssl) }

    deinit { ssl.table.pointee.EVP_PKEY_free(pointer) }

    /// Makes a key on the curve P-256 (FIPS 186-4, D.1.2.3).
    public convenience init() throws(OpenSSLError) {
        let ssl = try OpenSSL.opened()
        self.init(try ssl.made(copenssl_make_key(ssl.table), "make a key"), ssl)
    }

    /// Reads the first private key in PEM text, in any of OpenSSL's formats, such as PKCS #8 and SEC 1.
    ///
    /// - Throws: ``OpenSSLError/keyHasPassword``, or ``OpenSSLError/failed(action:reason:)`` if there is no key.
    public convenience init(pem: String) throws(OpenSSLError) {
        let ssl = try OpenSSL.opened()
        var isEncrypted = false
        let pointer = try ssl.withReader(of: Array(pem.utf8)) { reader throws(OpenSSLError) in
            let read = withUnsafeMutablePointer(to: &isEncrypted) { isEncrypted in
                ssl.table.pointee.PEM_read_bio_PrivateKey(
                    reader, nil,
                    { _, _, _, isEncrypted in
                        // Without this function, OpenSSL would ask for the password at the terminal.
                        isEncrypted?.assumingMemoryBound(to: Bool.self).pointee = true
                        return -1
                    }, isEncrypted)
            }
            if isEncrypted {
                ssl.table.pointee.ERR_clear_error()
                throw .keyHasPassword
            }
            return try ssl.made(read, "read the private key")
        }
        self.init(pointer, ssl)
    }

    /// The key in PEM (PKCS #8, RFC 5958), not encrypted.
    public func pem() throws(OpenSSLError) -> String {
        try ssl.text { ssl.table.pointee.PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }
}

/// A certificate (RFC 5280).
///
/// `@unchecked` is safe because nobody changes a certificate after it was made; see ``OpenSSL``.
public final class Certificate: @unchecked Sendable {
    let ssl: OpenSSL
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer, _ ssl: OpenSSL) { (self.pointer, self.ssl) = (pointer, ssl) }

    deinit { ssl.table.pointee.X509_free(pointer) }

    /// Reads all certificates in PEM text.
    ///
    /// - Throws: an error if one of them is damaged.
    public static func all(inPEM text: String) throws(OpenSSLError) -> [Certificate] {
        let ssl = try OpenSSL.opened()
        return try ssl.withReader(of: Array(text.utf8)) { reader throws(OpenSSLError) in
            var certificates: [Certificate] = []
            ssl.table.pointee.ERR_clear_error()
            while let pointer = ssl.table.pointee.PEM_read_bio_X509(reader, nil, nil, nil) {
                certificates.append(Certificate(pointer, ssl))
            }
            // After the last certificate, there is no line with which another would begin.
            let code = ssl.table.pointee.ERR_peek_error()
            guard ERR_GET_LIB(code) == ERR_LIB_PEM, ERR_GET_REASON(code) == PEM_R_NO_START_LINE else {
                throw ssl.failure("read the certificate")
            }
            ssl.table.pointee.ERR_clear_error()
            return certificates
        }
    }

    /// - Throws: an error if the bytes are not a certificate and nothing else.
    public convenience init(der: [UInt8]) throws(OpenSSLError) {
        let ssl = try OpenSSL.opened()
        let read = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let read = ssl.table.pointee.d2i_X509(nil, &position, bytes.count) else { return nil }
            guard position == bytes.baseAddress?.advanced(by: bytes.count) else {
                ssl.table.pointee.X509_free(read)
                return nil
            }
            return read
        }
        self.init(try ssl.made(read, "read the certificate"), ssl)
    }

    /// The certificate in DER (X.690).
    public func der() throws(OpenSSLError) -> [UInt8] {
        let count = ssl.table.pointee.i2d_X509(pointer, nil)
        try ssl.check(count, "write the certificate")
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, written in
            var position = bytes.baseAddress
            written = Int(ssl.table.pointee.i2d_X509(pointer, &position))
        }
    }

    /// The certificate in PEM (RFC 7468).
    public func pem() throws(OpenSSLError) -> String {
        try ssl.text { ssl.table.pointee.PEM_write_bio_X509($0, pointer) }
    }

    /// The times between which the certificate is valid.
    public func validity() throws(OpenSSLError) -> ClosedRange<Date> {
        let begin = try date(ssl.table.pointee.X509_get0_notBefore(pointer))
        return begin...max(begin, try date(ssl.table.pointee.X509_get0_notAfter(pointer)))
    }

    private func date(_ time: UnsafePointer<ASN1_TIME>?) throws(OpenSSLError) -> Date {
        var parts = tm()
        try ssl.check(ssl.table.pointee.ASN1_TIME_to_tm(time, &parts), "read the certificate's time")
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }

    /// Checks that the private key is the one to this certificate.
    public func belongs(to key: PrivateKey) -> Bool {
        defer { ssl.table.pointee.ERR_clear_error() }
        return ssl.table.pointee.X509_check_private_key(pointer, key.pointer) == 1
    }

    /// Checks that the certificate names this authority as its issuer and has its signature.
    public func isIssued(by authority: Certificate) -> Bool {
        let functions = ssl.table.pointee
        defer { functions.ERR_clear_error() }
        return functions.X509_NAME_cmp(
            functions.X509_get_issuer_name(pointer), functions.X509_get_subject_name(authority.pointer)) == 0
            && functions.X509_verify(pointer, functions.X509_get0_pubkey(authority.pointer)) == 1
    }

    /// Checks that the certificate has this extension with this value.
    public func has(_ wanted: Extension) -> Bool {
        let functions = ssl.table.pointee
        defer { functions.ERR_clear_error() }
        guard let own = functions.X509_get_ext(pointer, functions.X509_get_ext_by_NID(pointer, wanted.kind.nid, -1)),
            let other = functions.X509V3_EXT_conf_nid(nil, nil, wanted.kind.nid, wanted.value)
        else { return false }
        defer { functions.X509_EXTENSION_free(other) }
        return functions.ASN1_STRING_cmp(
            functions.X509_EXTENSION_get_data(own), functions.X509_EXTENSION_get_data(other)) == 0
    }

    /// Checks that the name constraints of this authority (RFC 5280, 4.2.1.10) permit all names of a certificate.
    public func permitsNames(of certificate: Certificate) -> Bool {
        let functions = ssl.table.pointee
        defer { functions.ERR_clear_error() }
        guard
            let constraints = functions.X509_get_ext_d2i(pointer, NID_name_constraints, nil, nil)
                .map({ $0.assumingMemoryBound(to: NAME_CONSTRAINTS.self) })
        else { return true }
        defer { functions.NAME_CONSTRAINTS_free(constraints) }
        // Fills the cache of names that NAME_CONSTRAINTS_check() compares.
        _ = functions.X509_check_purpose(certificate.pointer, -1, 0)
        return functions.NAME_CONSTRAINTS_check(certificate.pointer, constraints) == X509_V_OK
    }
}

extension Certificate {
    /// An extension, with its value as OpenSSL's configuration files have it: see x509v3_config(5). A value must not
    /// come from strangers unchecked, because commas separate its parts.
    public struct Extension: Sendable, Equatable {
        public enum Kind: Sendable {
            case basicConstraints, keyUsage, extendedKeyUsage, nameConstraints, subjectAltName, subjectKeyIdentifier
            case authorityKeyIdentifier

            var nid: Int32 {
                switch self {
                case .basicConstraints: NID_basic_constraints
                case .keyUsage: NID_key_usage
                case .extendedKeyUsage: NID_ext_key_usage
                case .nameConstraints: NID_name_constraints
                case .subjectAltName: NID_subject_alt_name
                case .subjectKeyIdentifier: NID_subject_key_identifier
                case .authorityKeyIdentifier: NID_authority_key_identifier
                }
            }
        }

        public var kind: Kind
        public var value: String

        public init(_ kind: Kind, _ value: String) { (self.kind, self.value) = (kind, value) }
    }

    /// Makes a certificate of version 3, with a random serial number and a signature with ECDSA and SHA-256.
    ///
    /// - Parameters:
    ///   - subject: the parts of the subject's name, such as "O" and "CN", with their values.
    ///   - key: the subject's key.
    ///   - issuer: the authority and its key; `nil` for a certificate that signs itself with `key`.
    public static func make(
        subject: KeyValuePairs<String, String>, key: PrivateKey, validity: ClosedRange<Date>, extensions: [Extension],
        issuer: (certificate: Certificate, key: PrivateKey)?
    ) throws(OpenSSLError) -> Certificate {
        let ssl = try OpenSSL.opened()
        let functions = ssl.table.pointee
        let made = Certificate(try ssl.made(functions.X509_new(), "allocate memory"), ssl)
        let pointer = made.pointer
        let action = "make a certificate"
        try ssl.check(functions.X509_set_version(pointer, Int(X509_VERSION_3)), action)
        // A positive number of 16 bytes (RFC 5280, 4.1.2.2).
        var serial = (0..<16).map { _ in UInt8.random(in: 0...255) }
        serial[0] = serial[0] & 0x3F | 0x40
        try ssl.check(functions.ASN1_STRING_set(functions.X509_get_serialNumber(pointer), serial, 16), action)
        let name = try ssl.made(functions.X509_NAME_new(), action)
        defer { functions.X509_NAME_free(name) }
        for (part, value) in subject {
            try ssl.check(
                functions.X509_NAME_add_entry_by_txt(name, part, MBSTRING_UTF8, value, Int32(value.utf8.count), -1, 0),
                action)
        }
        try ssl.check(functions.X509_set_subject_name(pointer, name), action)
        let issuerName = issuer.map { functions.X509_get_subject_name($0.certificate.pointer) } ?? name
        try ssl.check(functions.X509_set_issuer_name(pointer, issuerName), action)
        try ssl.check(functions.X509_set_pubkey(pointer, key.pointer), action)
        for (time, date) in [
            (functions.X509_getm_notBefore(pointer), validity.lowerBound),
            (functions.X509_getm_notAfter(pointer), validity.upperBound),
        ] { _ = try ssl.made(functions.ASN1_TIME_set(time, Int(date.timeIntervalSince1970)), action) }
        var context = X509V3_CTX()
        functions.X509V3_set_ctx(&context, (issuer?.certificate ?? made).pointer, pointer, nil, nil, 0)
        for wanted in extensions {
            let made = try ssl.made(
                functions.X509V3_EXT_conf_nid(nil, &context, wanted.kind.nid, wanted.value), action)
            defer { functions.X509_EXTENSION_free(made) }
            try ssl.check(functions.X509_add_ext(pointer, made, -1), action)
        }
        try ssl.check(functions.X509_sign(pointer, (issuer?.key ?? key).pointer, functions.EVP_sha256()), action)
        return made
    }
}

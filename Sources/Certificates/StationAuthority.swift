import Bookplate
import Cryptography
import Foundation
import Glibc
import Synchronization
import SystemCalls
import SystemPackage

/// A certificate authority of this station alone, and the certificate of its web service that it has issued.
///
/// The authority is made once and is valid for ten years. People install it on their phones, so it may issue
/// certificates only for servers with names and addresses of a house (RFC 5280, 4.2.1.10): if its key were stolen, it
/// could not be used to imitate a bank. The service's certificate is renewed when a third of its time is left, and when
/// the machine's names or addresses change.
public final class StationAuthority: Sendable {
    private struct State {
        var issuer: Issuer?
        var current: (certificate: ServerCertificate, subjects: Subjects, renewal: Date)?
    }

    private let folder: String
    private let now: @Sendable () -> Date
    private let onError: @Sendable (CertificateError) -> Void
    private let state = Mutex(State())

    /// The time for which a certificate of the service is valid: browsers accept at most 398 days (CA/Browser Forum
    /// Baseline Requirements, 6.3.2), and Apple's 825 for authorities of people's own.
    static let validity: TimeInterval = 397 * 86_400
    private static let authorityValidity: TimeInterval = 10 * 365 * 86_400
    /// The time by which a certificate is valid before it is made, because the clocks of phones may be slow.
    private static let leeway: TimeInterval = 86_400
    /// The beginning of the validity if the clock shows an earlier time, as that of a Raspberry Pi does until it has
    /// reached a time server.
    private static let epoch = Date(timeIntervalSince1970: 1_767_225_600)

    /// - Parameters:
    ///   - folder: the folder for the keys. It is created when it is needed. It must not be the library's folder, which
    ///     people copy and share.
    ///   - now: returns the time.
    ///   - onError: called if a new certificate of the service cannot be stored. It is used all the same, until this
    ///     program ends.
    public init(
        folder: String, now: @escaping @Sendable () -> Date = { Date() },
        onError: @escaping @Sendable (CertificateError) -> Void = { _ in }
    ) {
        (self.folder, self.now, self.onError) = (folder, now, onError)
    }

    private var authorityFile: String { folder + "/authority.pem" }
    private var serviceFile: String { folder + "/service.pem" }

    /// Returns the certificate of the service, and makes or renews it and its authority if necessary. Reads no file
    /// while nothing changes, so it can be called for every connection.
    ///
    /// - Throws: ``CertificateError`` if a file cannot be read, or if there is no authority and none can be made.
    public func certificate(for subjects: Subjects) throws(CertificateError) -> ServerCertificate {
        let now = now()
        return try state.withLock { state throws(CertificateError) in
            if let current = state.current, current.subjects == subjects, now < current.renewal {
                return current.certificate
            }
            let issuer = try issuer(&state, for: subjects, at: now)
            let wanted = try Self.permitted(subjects, by: issuer)
            if let stored = try storedCertificate(by: issuer, for: wanted), now < stored.renewal {
                state.current = (stored.certificate, subjects, stored.renewal)
                return stored.certificate
            }
            let made = try issue(by: issuer, for: wanted, at: now)
            state.current = (made.certificate, subjects, made.renewal)
            return made.certificate
        }
    }

    /// Returns the authority's own certificate, and makes the authority if there is none.
    ///
    /// - Parameter subjects: the names for which a new authority may issue certificates.
    public func authority(for subjects: Subjects) throws(CertificateError) -> AuthorityCertificate {
        let now = now()
        return try state.withLock { state throws(CertificateError) in
            let issuer = try issuer(&state, for: subjects, at: now)
            return issuer.shown
        }
    }

    /// Returns the names and addresses of `subjects` for which the authority may not issue certificates, because they
    /// were not known when it was made, or because they belong to the internet.
    public func refusedSubjects(of subjects: Subjects) throws(CertificateError) -> [String] {
        let now = now()
        return try state.withLock { state throws(CertificateError) in
            let issuer = try issuer(&state, for: subjects, at: now)
            let permitted = try Self.permitted(subjects, by: issuer)
            return (subjects.names + subjects.addresses).filter {
                !(permitted.names + permitted.addresses).contains($0)
            }
        }
    }

    private static func permitted(_ subjects: Subjects, by issuer: Issuer) throws(CertificateError) -> Subjects {
        do throws(OpenSSLError) { return try issuer.permitted(subjects) } catch { throw .notMade("\(error)") }
    }

    /// Opens the authority, or makes it.
    private func issuer(
        _ state: inout State, for subjects: Subjects, at now: Date
    ) throws(CertificateError) -> Issuer {
        if let issuer = state.issuer { return issuer }
        if let stored = try storedIssuer() {
            state.issuer = stored
            return stored
        }
        let made: String
        do { made = try Issuer.make(for: subjects, from: start(now), for: Self.authorityValidity).pem() } catch {
            throw CertificateError(error) { .notMade($0) }
        }
        // Of two programs that make an authority at the same time, the first wins, and both use its authority.
        let partial = authorityFile + ".new-\(UUID().uuidString)"
        do throws(FileError) {
            try createFolder(folder)
            try replaceFile(partial, with: made.utf8, mode: 0o600)
        } catch { throw .unwritable(error) }
        defer { unlink(partial) }
        guard link(partial, authorityFile) == 0 || Errno.current == .fileExists else {
            throw .unwritable(FileError(path: authorityFile, errno: .current))
        }
        do throws(FileError) { try syncFolder(of: authorityFile) } catch { throw .unwritable(error) }
        guard let issuer = try storedIssuer() else {
            throw .unreadable(FileError(path: authorityFile, errno: .noSuchFileOrDirectory))
        }
        state.issuer = issuer
        return issuer
    }

    private func storedIssuer() throws(CertificateError) -> Issuer? {
        guard let text = try text(of: authorityFile) else { return nil }
        do { return try Issuer(pem: text) } catch {
            throw CertificateError(error) { .damaged(path: authorityFile, reason: $0) }
        }
    }

    /// Returns the stored certificate of the service; `nil` if it is missing, damaged, or for other names.
    private func storedCertificate(
        by issuer: Issuer, for subjects: Subjects
    ) throws(CertificateError) -> (certificate: ServerCertificate, renewal: Date)? {
        guard let text = try text(of: serviceFile) else { return nil }
        do {
            let stored = try ServerCertificate(pem: text)
            guard stored.leaf.isIssued(by: issuer.certificate),
                stored.leaf.has(.init(.subjectAltName, subjects.alternativeName)), stored.validity.lowerBound <= now()
            else { return nil }
            return (stored, Self.renewal(of: stored))
        } catch {
            // It holds nothing that cannot be made again.
            return nil
        }
    }

    private func issue(
        by issuer: Issuer, for subjects: Subjects, at now: Date
    ) throws(CertificateError) -> (certificate: ServerCertificate, renewal: Date) {
        let certificate: ServerCertificate
        do {
            let begin = max(start(now), issuer.validity.lowerBound)
            certificate = try issuer.issue(for: subjects, from: begin, for: Self.validity)
        } catch { throw CertificateError(error) { .notMade($0) } }
        do throws(FileError) {
            try replaceFile(serviceFile, with: certificate.pem.utf8, mode: 0o600)
        } catch {
            onError(.unwritable(error))
        }
        return (certificate, Self.renewal(of: certificate))
    }

    private static func renewal(of certificate: ServerCertificate) -> Date {
        let validity = certificate.validity
        return validity.upperBound - validity.upperBound.timeIntervalSince(validity.lowerBound) / 3
    }

    private func start(_ now: Date) -> Date { max(now, Self.epoch) - Self.leeway }

    private func text(of path: String) throws(CertificateError) -> String? {
        do throws(FileError) {
            return String(decoding: try readFile(path, limit: ServerCertificate.sizeLimit), as: UTF8.self)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw .unreadable(error)
        }
    }
}

/// The names and addresses under which people reach the service.
public struct Subjects: Sendable, Equatable {
    /// Host names in lower case, such as "shelf.local". Names without a dot are left out, except "localhost": a
    /// constraint to the name "dev" would permit every name in the top-level domain .dev.
    public var names: [String]
    /// IPv4 and IPv6 addresses as text, such as "192.168.0.17".
    public var addresses: [String]

    /// Keeps the names and addresses sorted and each once. What is no name of a host (RFC 1123, 2.1) and no address is
    /// left out.
    public init(names: some Sequence<String>, addresses: some Sequence<String>) {
        self.names = Set(names.map { $0.lowercased() }.filter(Self.isName)).sorted()
        self.addresses = Set(addresses.filter(Self.isAddress)).sorted()
    }

    private static func isName(_ text: String) -> Bool {
        (text == "localhost" || text.contains(".")) && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
            }
    }

    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// The names and addresses as a certificate of the service has them (RFC 5280, 4.2.1.6).
    fileprivate var alternativeName: String {
        (names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }).joined(separator: ",")
    }

    /// The name by which people recognise the machine: its host name rather than "localhost". At most 64 characters
    /// (RFC 5280, ub-common-name).
    fileprivate var commonName: String {
        let own = names.filter { $0 != "localhost" }
        return String((own.min { $0.utf8.count < $1.utf8.count } ?? "station").prefix(40))
    }
}

/// The authority's certificate, which people install on their devices.
public struct AuthorityCertificate: Sendable, Equatable {
    /// The certificate in DER (X.690).
    public let der: [UInt8]
    /// The certificate in PEM (RFC 7468).
    public let pem: String

    /// - Throws: an error if the bytes are not a certificate.
    public init(der: [UInt8]) throws { try self.init(Certificate(der: der)) }

    /// - Parameter pem: PEM text whose first certificate is the authority's.
    /// - Throws: an error if there is none.
    public init(pem: String) throws {
        guard let first = try Certificate.all(inPEM: pem).first else { throw UnusablePEM("there is no certificate") }
        try self.init(first)
    }

    fileprivate init(_ certificate: Certificate) throws(OpenSSLError) {
        (der, pem) = (try certificate.der(), try certificate.pem())
    }

    /// The SHA-256 hash of the certificate, as phones and browsers show it: "3F 0A …".
    public var fingerprint: String {
        hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }

    /// The first half of the hash as eight words that can be spoken in most languages: proquints (D. Wilkerson,
    /// "A Proposal for Proquints", 2009). 128 bits are enough, because nobody can find a second certificate with them.
    public var words: String {
        stride(from: 0, to: 16, by: 2).map { Self.word(UInt16(hash[$0]) << 8 | UInt16(hash[$0 + 1])) }
            .joined(separator: " ")
    }

    private var hash: [UInt8] { SHA256.hash(der) }

    static func word(_ bits: UInt16) -> String {
        let (consonants, vowels) = (Array("bdfghjklmnprstvz"), Array("aiou"))
        return String([
            consonants[Int(bits >> 12)], vowels[Int(bits >> 10 & 3)], consonants[Int(bits >> 6 & 15)],
            vowels[Int(bits >> 4 & 3)], consonants[Int(bits & 15)],
        ])
    }
}

/// The authority with its key.
private struct Issuer {
    let certificate: Certificate
    let shown: AuthorityCertificate
    let validity: ClosedRange<Date>
    private let key: PrivateKey

    private init(certificate: Certificate, key: PrivateKey) throws(OpenSSLError) {
        (self.certificate, self.key) = (certificate, key)
        (shown, validity) = (try AuthorityCertificate(certificate), try certificate.validity())
    }

    /// - Parameter pem: the certificate and its key.
    /// - Throws: an error that says what is wrong, if they are damaged or do not belong together.
    init(pem: String) throws {
        guard let certificate = try Certificate.all(inPEM: pem).first else {
            throw UnusablePEM("there is no certificate")
        }
        let key = try PrivateKey(pem: pem)
        guard certificate.belongs(to: key) else { throw UnusablePEM("the key belongs to another certificate") }
        try self.init(certificate: certificate, key: key)
    }

    func pem() throws(OpenSSLError) -> String { shown.pem + (try key.pem()) }

    /// The ranges of addresses that are used within houses, with their masks: loopback, private networks, and those
    /// that devices give themselves (RFC 1122, 1918, 3927, 4193, 4291, and 6598, which Tailscale uses).
    private static let houseRanges = [
        "127.0.0.0/255.0.0.0", "10.0.0.0/255.0.0.0", "172.16.0.0/255.240.0.0", "192.168.0.0/255.255.0.0",
        "169.254.0.0/255.255.0.0", "100.64.0.0/255.192.0.0", "::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "fc00::/fe00::", "fe80::/ffc0::",
    ]

    static func make(
        for subjects: Subjects, from start: Date, for validity: TimeInterval
    ) throws(OpenSSLError) -> Issuer {
        let key = try PrivateKey()
        let names = Set(subjects.names.filter { !$0.hasSuffix(".local") } + ["local", "localhost"]).sorted()
        let permitted = names.map { "permitted;DNS:\($0)" } + houseRanges.map { "permitted;IP:\($0)" }
        let certificate = try Certificate.make(
            subject: ["O": "Bookplate", "CN": "Bookplate of \(subjects.commonName)"], key: key,
            validity: start...start + validity,
            extensions: [
                .init(.basicConstraints, "critical,CA:TRUE,pathlen:0"),
                .init(.keyUsage, "critical,keyCertSign"),
                // It limits what is issued, too: no e-mail, no programs, no clients.
                .init(.extendedKeyUsage, "serverAuth"),
                .init(.nameConstraints, "critical," + permitted.joined(separator: ",")),
                .init(.subjectKeyIdentifier, "hash"),
            ], issuer: nil)
        return try Issuer(certificate: certificate, key: key)
    }

    /// Returns the subjects that the authority's constraints permit. A certificate with any other would be refused as a
    /// whole.
    func permitted(_ subjects: Subjects) throws(OpenSSLError) -> Subjects {
        var permitted = Subjects(names: [], addresses: [])
        for name in subjects.names where try permits(Subjects(names: [name], addresses: [])) {
            permitted.names.append(name)
        }
        for address in subjects.addresses where try permits(Subjects(names: [], addresses: [address])) {
            permitted.addresses.append(address)
        }
        return permitted
    }

    /// Asks OpenSSL, as a browser would, with a certificate that nobody gets.
    private func permits(_ subjects: Subjects) throws(OpenSSLError) -> Bool {
        let trial = try Certificate.make(
            subject: [:], key: key, validity: validity,
            extensions: [.init(.subjectAltName, subjects.alternativeName)], issuer: (certificate, key))
        return certificate.permitsNames(of: trial)
    }

    func issue(
        for subjects: Subjects, from start: Date, for validity: TimeInterval
    ) throws(OpenSSLError) -> ServerCertificate {
        let leafKey = try PrivateKey()
        let end = min(start + validity, self.validity.upperBound)
        let leaf = try Certificate.make(
            subject: ["CN": subjects.commonName], key: leafKey, validity: min(start, end)...end,
            extensions: [
                .init(.basicConstraints, "critical,CA:FALSE"),
                .init(.keyUsage, "critical,digitalSignature"),
                .init(.extendedKeyUsage, "serverAuth"),
                .init(.subjectAltName, subjects.alternativeName),
                .init(.subjectKeyIdentifier, "hash"),
                .init(.authorityKeyIdentifier, "keyid:always"),
            ], issuer: (certificate, key))
        return try ServerCertificate(leaf: leaf, chain: [leaf], key: leafKey)
    }
}

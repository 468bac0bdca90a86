import Bookplate
import Crypto
import Foundation
import Glibc
import Synchronization
import SwiftASN1
import SystemCalls
import SystemPackage
import X509

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
            let wanted = issuer.permitted(subjects)
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
            return AuthorityCertificate(of: issuer)
        }
    }

    /// Returns the names and addresses of `subjects` for which the authority may not issue certificates, because they
    /// were not known when it was made, or because they belong to the internet.
    public func refusedSubjects(of subjects: Subjects) throws(CertificateError) -> [String] {
        let now = now()
        return try state.withLock { state throws(CertificateError) in
            let issuer = try issuer(&state, for: subjects, at: now)
            let permitted = issuer.permitted(subjects)
            return (subjects.names + subjects.addresses).filter {
                !(permitted.names + permitted.addresses).contains($0)
            }
        }
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
        do { made = try Issuer.make(for: subjects, from: start(now), for: Self.authorityValidity).pem } catch {
            throw .notMade("\(error)")
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
        do { return try Issuer(pem: text) } catch { throw .damaged(path: authorityFile, reason: "\(error)") }
    }

    /// Returns the stored certificate of the service; `nil` if it is missing, damaged, or for other names.
    private func storedCertificate(
        by issuer: Issuer, for subjects: Subjects
    ) throws(CertificateError) -> (certificate: ServerCertificate, renewal: Date)? {
        guard let text = try text(of: serviceFile) else { return nil }
        do {
            let stored = try ServerCertificate(pem: text)
            guard stored.leaf.issuer == issuer.certificate.subject,
                issuer.certificate.publicKey.isValidSignature(stored.leaf.signature, for: stored.leaf),
                try Subjects(of: stored.leaf) == subjects, stored.leaf.notValidBefore <= now()
            else { return nil }
            return (stored, Self.renewal(of: stored.leaf))
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
            let begin = max(start(now), issuer.certificate.notValidBefore)
            certificate = try issuer.issue(for: subjects, from: begin, for: Self.validity)
        } catch { throw .notMade("\(error)") }
        do throws(FileError) {
            try replaceFile(serviceFile, with: certificate.pem.utf8, mode: 0o600)
        } catch {
            onError(.unwritable(error))
        }
        return (certificate, Self.renewal(of: certificate.leaf))
    }

    private static func renewal(of leaf: Certificate) -> Date {
        leaf.notValidAfter - leaf.notValidAfter.timeIntervalSince(leaf.notValidBefore) / 3
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
    /// Addresses as text, such as "192.168.0.17".
    public var addresses: [String]

    /// Keeps the names and addresses sorted and each once.
    public init(names: some Sequence<String>, addresses: some Sequence<String>) {
        self.names = Set(names.map { $0.lowercased() }.filter { $0 == "localhost" || $0.contains(".") }).sorted()
        self.addresses = Set(addresses).sorted()
    }

    /// The names and addresses in a certificate of the service.
    fileprivate init(of certificate: Certificate) throws {
        var (names, addresses): ([String], [String]) = ([], [])
        for name in try certificate.extensions.subjectAlternativeNames ?? SubjectAlternativeNames() {
            switch name {
            case .dnsName(let name): names.append(name)
            case .ipAddress(let bytes): addresses.append(AddressBytes.text(Array(bytes.bytes)))
            // The service's certificates have no others.
            default: break
            }
        }
        self.init(names: names, addresses: addresses)
    }

    fileprivate var generalNames: [GeneralName] {
        names.map { .dnsName($0) }
            + addresses.compactMap { AddressBytes($0) }.map { .ipAddress(ASN1OctetString(contentBytes: $0.bytes[...])) }
    }
}

/// The authority's certificate, which people install on their devices.
public struct AuthorityCertificate: Sendable, Equatable {
    /// The certificate in DER (X.690).
    public let der: [UInt8]

    /// - Throws: an error if the bytes are not a certificate.
    public init(der: [UInt8]) throws {
        _ = try Certificate(derEncoded: der)
        self.der = der
    }

    fileprivate init(of issuer: Issuer) { der = issuer.der }

    /// - Parameter pem: PEM text whose first certificate is the authority's.
    /// - Throws: an error if there is none.
    public init(pem: String) throws {
        let documents = try PEMDocument.parseMultiple(pemString: pem)
        guard let first = documents.first(where: { $0.discriminator == "CERTIFICATE" }) else {
            throw UnusablePEM("there is no certificate")
        }
        try self.init(der: first.derBytes)
    }

    /// The certificate in PEM (RFC 7468).
    public var pem: String { PEMDocument(type: "CERTIFICATE", derBytes: der).pemString + "\n" }

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

    private var hash: [UInt8] { Array(SHA256.hash(data: der)) }

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
    let der: [UInt8]
    private let key: P256.Signing.PrivateKey
    /// The domains for whose names the authority may issue certificates.
    private let domains: [String]

    private init(certificate: Certificate, der: [UInt8], key: P256.Signing.PrivateKey) throws {
        (self.certificate, self.der, self.key) = (certificate, der, key)
        domains = try certificate.extensions.nameConstraints.map { Array($0.permittedDNSDomains) } ?? []
    }

    /// - Parameter pem: the certificate and its key.
    /// - Throws: an error that says what is wrong, if they are damaged or do not belong together.
    init(pem: String) throws {
        let documents = try PEMDocument.parseMultiple(pemString: pem)
        guard let first = documents.first(where: { $0.discriminator == "CERTIFICATE" }), let last = documents.last
        else {
            throw UnusablePEM("there is no certificate")
        }
        let (certificate, key) = (
            try Certificate(pemDocument: first), try P256.Signing.PrivateKey(derRepresentation: last.derBytes)
        )
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
            throw UnusablePEM("the key belongs to another certificate")
        }
        try self.init(certificate: certificate, der: first.derBytes, key: key)
    }

    var pem: String {
        PEMDocument(type: "CERTIFICATE", derBytes: der).pemString + "\n" + key.pemRepresentation + "\n"
    }

    static func make(for subjects: Subjects, from start: Date, for validity: TimeInterval) throws -> Issuer {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName {
            OrganizationName("Bookplate")
            CommonName("Bookplate of \(subjects.commonName)")
        }
        let names = Set(subjects.names.filter { !$0.hasSuffix(".local") } + ["local", "localhost"]).sorted()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: start, notValidAfter: start + validity, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                // It limits what is issued, too: no e-mail, no programs, no clients.
                try ExtendedKeyUsage([.serverAuth])
                Critical(
                    NameConstraints(
                        permittedDNSDomains: names,
                        permittedIPRanges: HouseRange.all.map { ASN1OctetString(contentBytes: $0.constraint[...]) }))
                SubjectKeyIdentifier(hash: .init(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        return try Issuer(certificate: certificate, der: try certificate.serializeAsPEM().derBytes, key: key)
    }

    /// Returns the subjects that the authority's constraints permit. A certificate with any other would be refused as a
    /// whole.
    func permitted(_ subjects: Subjects) -> Subjects {
        Subjects(
            names: subjects.names.filter { name in domains.contains { name == $0 || name.hasSuffix("." + $0) } },
            addresses: subjects.addresses.filter { text in
                AddressBytes(text).map { address in HouseRange.all.contains { $0.contains(address) } } ?? false
            })
    }

    func issue(for subjects: Subjects, from start: Date, for validity: TimeInterval) throws -> ServerCertificate {
        let leafKey = P256.Signing.PrivateKey()
        let leaf = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: start, notValidAfter: min(start + validity, certificate.notValidAfter),
            issuer: certificate.subject, subject: try DistinguishedName { CommonName(subjects.commonName) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(subjects.generalNames)
                SubjectKeyIdentifier(hash: .init(leafKey.publicKey))
                AuthorityKeyIdentifier(
                    keyIdentifier: try certificate.extensions.subjectKeyIdentifier?.keyIdentifier)
            },
            issuerPrivateKey: .init(key))
        return try ServerCertificate(leaf: leaf, chain: [leaf], key: .init(leafKey))
    }
}

extension Subjects {
    /// The name by which people recognise the machine: its host name rather than "localhost". At most 64 characters
    /// (RFC 5280, ub-common-name).
    fileprivate var commonName: String {
        let own = names.filter { $0 != "localhost" }
        return String((own.min { $0.utf8.count < $1.utf8.count } ?? "station").prefix(40))
    }
}

/// The bytes of an IPv4 or IPv6 address.
private struct AddressBytes: Equatable {
    let bytes: [UInt8]

    init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
        } else {
            return nil
        }
    }

    static func text(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16, inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
        else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A range of addresses that are used within houses: loopback, private networks, and those that devices give themselves
/// (RFC 1122, 1918, 3927, 4193, 4291, and 6598, which Tailscale uses).
private struct HouseRange {
    let address: [UInt8]
    let prefix: Int

    static let all: [HouseRange] = [
        ("127.0.0.0", 8), ("10.0.0.0", 8), ("172.16.0.0", 12), ("192.168.0.0", 16), ("169.254.0.0", 16),
        ("100.64.0.0", 10), ("::1", 128), ("fc00::", 7), ("fe80::", 10),
    ].compactMap { text, prefix in
        AddressBytes(text).map { HouseRange(address: $0.bytes, prefix: prefix) }
    }

    private var mask: [UInt8] {
        address.indices.map { index in UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, prefix - index * 8))) }
    }

    /// The address and its mask, as a name constraint has them (RFC 5280, 4.2.1.10).
    var constraint: [UInt8] { address + mask }

    func contains(_ other: AddressBytes) -> Bool {
        other.bytes.count == address.count
            && zip(zip(other.bytes, mask), address).allSatisfy { $0.0 & $0.1 == $1 }
    }
}

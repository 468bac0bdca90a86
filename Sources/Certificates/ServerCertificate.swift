import Bookplate
import Cryptography
import Foundation
import Glibc
import Synchronization
import SystemCalls

/// The certificate of a TLS server with its chain and its private key.
public struct ServerCertificate: Sendable, Equatable {
    /// The certificates in PEM, the server's first.
    public let chain: String
    /// The private key in PEM.
    public let key: String
    /// The server's certificate.
    let leaf: Certificate
    /// The times between which the server's certificate is valid.
    let validity: ClosedRange<Date>

    /// The largest file that is read, in bytes. A chain with its key has less than 20,000.
    static let sizeLimit = 1 << 20

    /// The time at which the certificate expires.
    public var expiry: Date { validity.upperBound }

    /// The certificates and the key.
    var pem: String { chain + key }

    init(leaf: Certificate, chain: [Certificate], key: PrivateKey) throws(OpenSSLError) {
        self.leaf = leaf
        validity = try leaf.validity()
        var text = ""
        for certificate in chain { text += try certificate.pem() }
        self.chain = text
        self.key = try key.pem()
    }

    /// - Parameter pem: the certificates, the server's first, and the private key of the server's certificate.
    /// - Throws: an error that says what is wrong, if any of them is missing or damaged, or if they do not belong
    ///   together.
    init(pem: String) throws {
        let chain = try Certificate.all(inPEM: pem)
        guard let leaf = chain.first else { throw UnusablePEM("there is no certificate") }
        guard pem.contains("PRIVATE KEY-----") else { throw UnusablePEM("there is no private key") }
        let key = try PrivateKey(pem: pem)
        guard leaf.belongs(to: key) else { throw UnusablePEM("the key belongs to another certificate") }
        try self.init(leaf: leaf, chain: chain, key: key)
    }

    public static func == (one: ServerCertificate, other: ServerCertificate) -> Bool {
        one.chain == other.chain && one.key == other.key
    }
}

/// The reason why PEM text has no certificate and key that belong together.
struct UnusablePEM: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A certificate and its key in files that another program renews, such as certbot or Tailscale. They are read again
/// when they change.
public final class CertificateFiles: Sendable {
    private struct State {
        var stamp: [FileStamp] = []
        var current: ServerCertificate?
    }

    private let paths: [String]
    private let onError: @Sendable (CertificateError) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - certificate: the path of a PEM file with the server's certificate and those of its chain.
    ///   - key: the path of the PEM file with the private key, which may be the same file.
    ///   - onError: called once for each change that cannot be used. The earlier certificate is used until the next
    ///     change.
    public init(
        certificate: String, key: String, onError: @escaping @Sendable (CertificateError) -> Void
    ) {
        paths = certificate == key ? [certificate] : [certificate, key]
        self.onError = onError
    }

    /// Returns the certificate. Looks at the files' times, but reads the files only if they have changed.
    ///
    /// - Throws: ``CertificateError`` if the files could never be used.
    public func certificate() throws(CertificateError) -> ServerCertificate {
        let stamp = paths.map { FileStamp(of: $0) }
        return try state.withLock { state throws(CertificateError) in
            if let current = state.current, state.stamp == stamp { return current }
            do throws(CertificateError) {
                let read = try read()
                (state.current, state.stamp) = (read, stamp)
                return read
            } catch {
                guard let current = state.current else { throw error }
                // Two files cannot be replaced at the same moment. The next change is tried again.
                if state.stamp != stamp { onError(error) }
                state.stamp = stamp
                return current
            }
        }
    }

    private func read() throws(CertificateError) -> ServerCertificate {
        var pem = ""
        for path in paths {
            do throws(FileError) {
                pem += String(decoding: try readFile(path, limit: ServerCertificate.sizeLimit), as: UTF8.self) + "\n"
            } catch { throw .unreadable(error) }
        }
        do {
            let certificate = try ServerCertificate(pem: pem)
            // TLS has rules of its own, such as for the length of a key.
            _ = try TLSContext(chain: certificate.chain, key: certificate.key)
            return certificate
        } catch {
            throw CertificateError(error) { .noPair(paths: paths, reason: $0) }
        }
    }
}

/// The properties of a file that change when it is written or replaced.
private struct FileStamp: Equatable {
    private let values: [Int]

    /// A missing file has a stamp of its own.
    init(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            values = []
            return
        }
        values = [
            Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }
}

/// The reason why there is no certificate.
public enum CertificateError: Error, Sendable, Equatable, CustomStringConvertible {
    case unreadable(FileError)
    case unwritable(FileError)
    /// The authority's file is not as it was written.
    case damaged(path: String, reason: String)
    /// The files have no certificate, no key without a password, or they do not belong together.
    case noPair(paths: [String], reason: String)
    case notMade(String)
    /// OpenSSL cannot be opened. The text says what to install.
    case noOpenSSL(String)

    /// - Parameter other: makes the error of a reason that lies in the certificate and not in the machine.
    init(_ error: any Error, _ other: (String) -> CertificateError) {
        self = if case OpenSSLError.missing = error { .noOpenSSL("\(error)") } else { other("\(error)") }
    }

    public var description: String {
        switch self {
        case .unreadable(let error): "cannot read the certificate in \(error)"
        case .unwritable(let error): "cannot write the certificate to \(error)"
        case .damaged(let path, let reason):
            "the station's certificate authority in \(path) is damaged (\(reason)). Put back a copy of it. Or delete it: a new one is then made, which has to be installed on the phones again"
        case .noPair(let paths, let reason):
            "\(paths.joined(separator: " and ")) must have a certificate in PEM and its private key without a password: \(reason)"
        case .notMade(let reason): "cannot make a certificate: \(reason)"
        case .noOpenSSL(let reason): reason
        }
    }
}

extension CertificateError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .unreadable(let error), .unwritable(let error): error.isAboutPath ? .configuration : .inputOutput
        case .damaged, .noPair, .noOpenSSL: .configuration
        case .notMade: .inputOutput
        }
    }

    public var namesFile: Bool { true }

    public var code: String {
        switch self {
        case .unreadable: "certificateUnreadable"
        case .unwritable: "certificateUnwritable"
        case .damaged: "authorityDamaged"
        case .noPair: "certificateNoPair"
        case .notMade: "certificateNotMade"
        case .noOpenSSL: "noOpenSSL"
        }
    }
}

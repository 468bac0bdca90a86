import Bookplate
import Certificates
import Foundation
import Kiosk
import Logging
import SystemCalls

/// Finds the certificate with which the kiosk speaks https: in the files that the settings name, or made by the
/// station's own certificate authority.
struct KioskCertificates {
    let settings: Settings
    /// The host names of the kiosk in addition to the machine's.
    let names: [String]
    let logger: Logger

    /// - Returns: `nil` if the settings do not turn https on.
    /// - Throws: ``CertificateError`` or ``CommandError`` if there is no certificate to begin with.
    func tls(port: Int) throws -> KioskTLS? {
        guard Settings.means(on: settings[.tls]) else { return nil }
        if let file = settings[.tlsCertificate] {
            guard let key = settings[.tlsKey] else { throw Self.unpaired }
            return try fromFiles(certificate: file, key: key, port: port)
        }
        guard settings[.tlsKey] == nil else { throw Self.unpaired }
        return try fromAuthority(port: port)
    }

    private static let unpaired = CommandError(
        .configuration,
        "a certificate needs its key: give both --tls-certificate and --tls-key, or neither, so that the station makes a certificate itself."
    )

    private func fromFiles(certificate: String, key: String, port: Int) throws -> KioskTLS {
        let files = CertificateFiles(certificate: certificate, key: key) { [logger] error in
            logger.warning("the certificate was not replaced: \(error)")
        }
        let first = try files.certificate()
        if first.expiry < Date() {
            logger.warning("the certificate in \(certificate) expired on \(first.expiry.rfc3339)")
        }
        return KioskTLS(port: port, certificate: { .init(try files.certificate()) })
    }

    private func fromAuthority(port: Int) throws -> KioskTLS {
        let authority = StationAuthority(
            folder: settings.paths.tlsFolder,
            onError: { [logger] in logger.warning("the renewed certificate is used, but was not stored: \($0)") })
        let subjects: @Sendable () -> Subjects = { [names] in
            let host = MachineAddress.hostName()
            let own = host.isEmpty ? [] : [host + ".local"]
            return Subjects(
                names: ["localhost"] + own + names,
                addresses: ["127.0.0.1", "::1"] + MachineAddress.all().map(\.text))
        }
        _ = try authority.certificate(for: subjects())
        let configured = Set(names.map { $0.lowercased() })
        let refused = try authority.refusedSubjects(of: subjects()).filter(configured.contains)
        if !refused.isEmpty {
            logger.warning(
                """
                the station's certificate is not for \(refused.joined(separator: ", ")), because its certificate authority was \
                made without that name. Browsers that use it warn. To make a new authority, delete \
                \(settings.paths.tlsFolder) and start again; then install the new one on the phones
                """)
        }
        return KioskTLS(
            port: port, certificate: { .init(try authority.certificate(for: subjects())) },
            authority: {
                let certificate = try authority.authority(for: subjects())
                return KioskTLS.Authority(
                    certificate: certificate.der, fingerprint: certificate.fingerprint, words: certificate.words)
            })
    }
}

extension KioskTLS.Certificate {
    fileprivate init(_ certificate: ServerCertificate) { self.init(chain: certificate.chain, key: certificate.key) }
}

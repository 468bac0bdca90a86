import Bookplate
import FoundationEssentials
import Hummingbird

/// The page that explains the browser's warning about the station's certificate and how to end it: by installing the
/// station's certificate authority on the device. It needs no sign-in and is served over plain http too, because it
/// comes before everything else.
///
/// Somebody in the network could change what plain http carries. Therefore people compare the fingerprint that the
/// device itself shows for the certificate with the one in Settings on the station's own screen.
struct TrustPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/trust", for: .everyone, page),
            Route(.get, "/trust/authority.crt", for: .everyone) { _, _ in
                file(try authority().certificate, "application/x-x509-ca-cert")
            },
            Route(.get, "/trust/authority.mobileconfig", for: .everyone) { _, _ in
                file(Array(Self.profile(of: try authority()).utf8), "application/x-apple-aspen-config")
            },
        ]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let (authority, texts) = (try authority(), parts.pages.texts(context))
        var stranger = context
        // Whoever opens the page, it is the same.
        stranger.caller = .stranger
        return try await parts.pages.render(
            Pages.Page(
                template: "trust", title: texts("trust.title"),
                view: ["fingerprint": authority.fingerprint]), stranger)
    }

    /// - Throws: ``RequestRefusal`` (404) if the station has no authority of its own.
    private func authority() throws -> KioskTLS.Authority {
        guard let authority = try parts.configuration.tls?.authority?() else { throw RequestRefusal.notFound("page") }
        return authority
    }

    private func file(_ bytes: [UInt8], _ type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Returns a configuration profile with the authority, which iPhones and iPads install (Apple, "Configuration
    /// Profile Reference", com.apple.security.root).
    static func profile(of authority: KioskTLS.Authority) -> String {
        // A profile with the same identifiers replaces an earlier one instead of standing beside it.
        let name = authority.words.replacing(" ", with: "-")
        func payload(_ number: Int) -> String {
            let digits = authority.fingerprint.filter { $0 != " " }.dropFirst(number * 32).prefix(32)
            return [8, 4, 4, 4, 12].reduce(into: (text: [Substring](), rest: digits)) { parts, length in
                parts.text.append(parts.rest.prefix(length))
                parts.rest = parts.rest.dropFirst(length)
            }.text.joined(separator: "-")
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            <key>PayloadType</key><string>Configuration</string>
            <key>PayloadVersion</key><integer>1</integer>
            <key>PayloadIdentifier</key><string>bookplate.\(name)</string>
            <key>PayloadUUID</key><string>\(payload(0))</string>
            <key>PayloadDisplayName</key><string>Bookplate</string>
            <key>PayloadContent</key><array><dict>
            <key>PayloadType</key><string>com.apple.security.root</string>
            <key>PayloadVersion</key><integer>1</integer>
            <key>PayloadIdentifier</key><string>bookplate.\(name).authority</string>
            <key>PayloadUUID</key><string>\(payload(1))</string>
            <key>PayloadDisplayName</key><string>Bookplate</string>
            <key>PayloadCertificateFileName</key><string>bookplate.cer</string>
            <key>PayloadContent</key><data>\(Data(authority.certificate).base64EncodedString())</data>
            </dict></array>
            </dict></plist>

            """
    }
}

import Foundation
import TestTools
import Testing

@testable import HTTP

/// Tests of certificates: every fault is detected and reported as what it is. They need the command openssl.
@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct TLSTests {
    static let authority = Result { try OpenSSL.Authority() }

    @Test(
        arguments: [
            ("sound", "IP:127.0.0.1", 30, true, nil),
            ("expired", "IP:127.0.0.1", -1, true, TransportError.tls(.expired)),
            ("another host", "DNS:books.example", 30, true, .tls(.wrongHost)),
            ("nobody we trust", "IP:127.0.0.1", 30, false, .tls(.unknownIssuer)),
        ] as [(String, String, Int, Bool, TransportError?)])
    func `a certificate is checked, and its fault is reported`(
        _ name: String, _ subject: String, _ days: Int, _ trusts: Bool, _ expected: TransportError?
    ) async throws {
        let authority = try Self.authority.get()
        let server = try authority.serve(subject: subject, days: days)
        let client = HTTPClient(userAgent: "Bookplate/1.0", certificateFile: trusts ? authority.file : nil)
        let address = try #require(WebAddress("https://127.0.0.1:\(server.port)/"))
        do throws(TransportError) {
            let answer = try await client.send(HTTPRequest(address: address))
            #expect(expected == nil)
            #expect(answer.status == 200)
        } catch {
            #expect(error == expected)
        }
    }

    @Test func `a file of authorities that cannot be read is reported by name`() async throws {
        let server = try Self.authority.get().serve(subject: "IP:127.0.0.1", days: 30)
        let client = HTTPClient(userAgent: "Bookplate/1.0", certificateFile: "/nonexistent.pem")
        let address = try #require(WebAddress("https://127.0.0.1:\(server.port)/"))
        await #expect {
            try await client.send(HTTPRequest(address: address))
        } throws: { error in
            "\(error)".contains("/nonexistent.pem")
        }
    }
}

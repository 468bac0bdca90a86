import FaultServer
import Foundation
import TestTools
import Testing

/// The browser of a phone that has signed in, and its station. The pages come over https under a name of the house,
/// because browsers give cameras and service workers to no others.
struct Phone {
    static let code = "kumquat 7", host = "phone.local"

    let kiosk: KioskProcess
    let browser: Browser
    /// The beginning of the addresses of all pages.
    let origin: String
    /// The network between the two; `nil` for none.
    let relay: CutRelay?

    func open(_ path: String) async throws {
        try await browser.open(origin + path)
        try await browser.ready()
    }

    /// Starts the station again after it was killed.
    func restart() async throws -> KioskProcess {
        try await KioskProcess(home: kiosk.home, port: kiosk.port, options: Self.options(port: kiosk.encryptedPort))
    }

    static func options(port: Int?) -> [String] {
        ["--no-camera", "--tls", "--tls-port", "\(port ?? 0)", "--name", Self.host]
    }
}

/// Opens the Scan page on a phone.
///
/// - Parameters:
///   - options: options of Chromium.
///   - trusts: true if the phone trusts the station's certificate, false if its person continues past the warning.
///   - seed: chooses where a network between the two cuts connections; `nil` for no such network.
func withPhone(
    options: [String] = [], trusts: Bool = true, cutBy seed: UInt64? = nil, _ body: (Phone) async throws -> Void
) async throws {
    let kiosk = try await KioskProcess(options: Phone.options(port: nil))
    defer { kiosk.remove() }
    try await kiosk.scan("kiosk", "code", input: Phone.code + "\n")
    let port = try #require(kiosk.encryptedPort)
    let origin = "https://\(Phone.host):\(port)"
    let relay = try seed.map { try CutRelay(to: port, seed: $0) }
    let network = "MAP \(Phone.host) 127.0.0.1:\(relay?.port ?? port)"
    let trust = trusts ? ["--ignore-certificate-errors-spki-list=\(try publicKeyHash(of: kiosk))"] : []
    try await Browser.during(options + trust + ["--host-resolver-rules=\(network)"]) { browser in
        if !trusts {
            try await browser.driver.devTools("Security.setIgnoreCertificateErrors", ["ignore": true])
        }
        try await browser.show(.phone)
        try await browser.open(origin + "/sign-in")
        try await browser.driver.run(
            """
            document.getElementById("code").value = "\(Phone.code)";
            document.querySelector("#sign-in .primary").click();
            """)
        try await browser.wait("the sign-in", until: "location.pathname !== '/sign-in'")
        let phone = Phone(kiosk: kiosk, browser: browser, origin: origin, relay: relay)
        try await phone.open("/scan")
        try await body(phone)
    }
}

/// Returns the SHA-256 of the public key in the station's certificate, by which Chromium trusts it.
private func publicKeyHash(of kiosk: KioskProcess) throws -> String {
    let folder = kiosk.home.appendingPathComponent(".local/state/bookplate/tls")
    let printed = try OpenSSL.run(["x509", "-in", "service.pem", "-pubkey", "-noout"], in: folder.path)
    let lines = printed.output.split(separator: "\n").filter { !$0.hasPrefix("-----") }
    let key = folder.appendingPathComponent("key.der")
    try #require(Data(base64Encoded: lines.joined())).write(to: key)
    defer { unlink(key.path) }
    let hash = try OpenSSL.run(["dgst", "-sha256", "-r", "key.der"], in: folder.path).output.prefix(64)
    let bytes = stride(from: 0, to: hash.count, by: 2).compactMap { UInt8(hash.dropFirst($0).prefix(2), radix: 16) }
    return Data(bytes).base64EncodedString()
}

import Testing

@testable import Cryptography

@Suite struct `SHA-256` {
    /// From FIPS 180-2, B.1 to B.3.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `is that of the standard`(text: String, hash: String) {
        #expect(SHA256.hash(text.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hash)
    }
}

@Suite struct `The OpenSSL library` {
    @Test func `that is missing is an error that names the package`() {
        guard case .failure(let error) = OpenSSL.open("libnone.so.3") else {
            Issue.record("a library that is not there was opened")
            return
        }
        #expect("\(error)".hasPrefix("https needs OpenSSL 3, which is missing (libnone.so.3: cannot open"))
        #expect("\(error)".hasSuffix("install the package libssl3"))
    }

    @Test func `begins with no TLS that has no certificate`() throws {
        let key = try PrivateKey().pem()
        #expect(throws: OpenSSLError.failed(action: "use the certificate", reason: "there is none")) {
            try TLSContext(chain: "", key: key)
        }
    }
}

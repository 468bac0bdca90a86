import Testing

@testable import Cryptography

@Suite struct `OpenSSL that is missing` {
    @Test func `is an error that names the package`() {
        guard case .failure(let error) = OpenSSL.open("libnone.so.3") else {
            Issue.record("a library that is not there was opened")
            return
        }
        #expect("\(error)".hasPrefix("https needs OpenSSL 3, which is missing (libnone.so.3: cannot open"))
        #expect("\(error)".hasSuffix("install the package libssl3"))
    }
}

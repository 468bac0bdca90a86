import Testing

@testable import HTTP

@Suite struct WebAddressTests {
    @Test(arguments: [
        ("https://openlibrary.org", "https://openlibrary.org/"),
        ("HTTPS://OpenLibrary.ORG:443/a?b#c", "https://openlibrary.org/a?b"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"), ("https://[::1]:1/", "https://[::1]:1/"),
        ("https://books.google.com?id=1", "https://books.google.com/?id=1"),
    ])
    func `parses a plain address`(_ text: String, _ expected: String) {
        #expect(WebAddress(text)?.description == expected)
    }

    @Test(arguments: [
        "", "openlibrary.org", "ftp://openlibrary.org", "file:///etc/passwd", "https://", "https:///x",
        "https://user@host/",
        "https://openlibrary.org:pass@evil.example/", "https://evil.example\\@openlibrary.org/", "https://a b/",
        "https://a%2eb/",
        "https://öpen.example/", "https://host:0/", "https://host:99999/", "https://host:/\n", "https://.example/",
        "https://ho\u{0}st/",
        "javascript:alert(1)", "https://[::1%25eth0]/", "https://" + String(repeating: "a", count: 3000),
    ])
    func `refuses addresses that parsers could understand differently`(_ text: String) {
        #expect(WebAddress(text) == nil)
    }
}

@Suite struct PublicAddressTests {
    @Test(arguments: [
        (UInt32(0x7F00_0001), false), (0x0A01_0203, false), (0xAC10_0001, false), (0xAC20_0001, true),
        (0xC0A8_0001, false),
        (0xA9FE_A9FE, false), (0x0000_0000, false), (0x6440_0001, false), (0xE000_0001, false), (0xFFFF_FFFF, false),
        (0xCFF1_E000, true), (0x0808_0808, true),
    ])
    func `recognises private IPv4 addresses`(_ address: UInt32, _ isPublic: Bool) {
        #expect(PublicAddress.isPublic(v4: address) == isPublic)
    }

    @Test(arguments: [
        ("0000:0000:0000:0000:0000:0000:0000:0001", false), ("0000:0000:0000:0000:0000:ffff:7f00:0001", false),
        ("0000:0000:0000:0000:0000:ffff:0808:0808", true), ("fe80:0000:0000:0000:0000:0000:0000:0001", false),
        ("fd00:0000:0000:0000:0000:0000:0000:0001", false), ("0064:ff9b:0000:0000:0000:0000:0a00:0001", false),
        ("2002:7f00:0001:0000:0000:0000:0000:0000", false), ("2001:0db8:0000:0000:0000:0000:0000:0001", false),
        ("2a00:1450:4001:0800:0000:0000:0000:200e", true), ("ff02:0000:0000:0000:0000:0000:0000:0001", false),
    ])
    func `recognises private IPv6 addresses, and IPv4 ones embedded in them`(_ text: String, _ isPublic: Bool) {
        let bytes = text.split(separator: ":").compactMap { UInt16($0, radix: 16) }.flatMap {
            [UInt8($0 >> 8), UInt8($0 & 0xFF)]
        }
        #expect(PublicAddress.isPublic(v6: bytes) == isPublic)
    }
}

@Suite struct PrivateAddressTests {
    @Test(arguments: [
        (UInt32(0x7F00_0001), true), (0x0A01_0203, true), (0xAC10_0001, true), (0xAC1F_FFFF, true),
        (0xAC20_0001, false), (0xAC0F_FFFF, false), (0xC0A8_0001, true), (0xC0A9_0001, false), (0xA9FE_A9FE, true),
        (0x0000_0000, false), (0x6440_0001, false), (0x0808_0808, false), (0x0B00_0001, false),
    ])
    func `recognises the IPv4 addresses of private networks`(_ address: UInt32, _ isPrivate: Bool) {
        #expect(PrivateAddress.isPrivate(v4: address) == isPrivate)
    }

    @Test(arguments: [
        ("0:0:0:0:0:0:0:1", true), ("0:0:0:0:0:0:0:0", false), ("0:0:0:0:0:ffff:c0a8:0001", true),
        ("0:0:0:0:0:ffff:0808:0808", false), ("fe80:0:0:0:0:0:0:1", true), ("fec0:0:0:0:0:0:0:1", false),
        ("fd00:0:0:0:0:0:0:1", true), ("fc00:0:0:0:0:0:0:1", true), ("2a00:1450:4001:800:0:0:0:200e", false),
        ("64:ff9b:0:0:0:0:a00:1", false), ("2002:a00:1:0:0:0:0:0", false),
    ])
    func `recognises the IPv6 addresses of private networks`(_ text: String, _ isPrivate: Bool) {
        let bytes = text.split(separator: ":").compactMap { UInt16($0, radix: 16) }.flatMap {
            [UInt8($0 >> 8), UInt8($0 & 0xFF)]
        }
        #expect(PrivateAddress.isPrivate(v6: bytes) == isPrivate)
    }
}

import Bookplate
import Foundation
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import Certificates

/// A clock that is set by hand.
private final class Clock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_795_262_400))

    var now: Date { time.withLock { $0 } }

    func set(_ date: Date) { time.withLock { $0 = date } }
    func advance(by days: Double) { time.withLock { $0 += days * 86_400 } }
}

private let certtool = "/usr/bin/certtool"
private let hasCerttool = FileManager.default.isExecutableFile(atPath: certtool)

private let home = Subjects(
    names: ["shelf.local", "books.example", "localhost"], addresses: ["192.168.1.5", "127.0.0.1", "::1"])

/// The keys in a folder of their own, and the authority that uses them.
private struct Keys {
    let scratch: Scratch
    let clock = Clock()
    var folder: String { scratch.file("tls") }

    init() throws { scratch = try Scratch() }

    /// The authority as a program that has just started sees it.
    var authority: StationAuthority { StationAuthority(folder: folder, now: { [clock] in clock.now }) }

    /// Writes what a browser gets: the authority that it trusts, and the chain of the service.
    func write(_ subjects: Subjects = home) throws {
        try scratch.write(Array(try authority.authority(for: subjects).pem.utf8), to: "trusted.pem")
        try scratch.write(Array(try authority.certificate(for: subjects).chain.utf8), to: "chain.pem")
    }

    func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
        try OpenSSL.run(arguments, in: scratch.path)
    }

    /// Verifies the service's certificate as openssl does for a server at this name or address.
    func verifies(_ flag: String, _ value: String) throws -> Bool {
        let time = String(Int(clock.now.timeIntervalSince1970))
        return try openssl(
            "verify", "-CAfile", "trusted.pem", "-purpose", "sslserver", "-attime", time, flag, value, "chain.pem"
        ).status == 0
    }

    /// Verifies the service's certificate now with GnuTLS, which did not issue it.
    func otherVerifies(_ flag: String, _ value: String) throws -> (isGood: Bool, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: certtool)
        process.currentDirectoryURL = URL(fileURLWithPath: scratch.path)
        process.arguments = [
            "--verify", "--load-ca-certificate", "trusted.pem", "--infile", "chain.pem", flag, value,
            "--verify-purpose", "1.3.6.1.5.5.7.3.1",
        ]
        let printed = Pipe()
        (process.standardOutput, process.standardError) = (printed, printed)
        try process.run(atMost: .seconds(60))
        let output = printed.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus == 0, String(decoding: output, as: UTF8.self))
    }

    func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}

@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct `The station's certificate authority` {
    @Test func `vouches for the house alone, and says so in constraints that are critical`() throws {
        let keys = try Keys()
        try keys.write()
        let text = try keys.openssl("x509", "-in", "trusted.pem", "-noout", "-text").output
        for part in [
            "Subject: O = Bookplate, CN = Bookplate of shelf.local", "X509v3 Name Constraints: critical", "DNS:local\n",
            "DNS:books.example\n", "IP:192.168.0.0/255.255.0.0", "IP:10.0.0.0/255.0.0.0", "IP:172.16.0.0/255.240.0.0",
            "IP:FC00:0:0:0:0:0:0:0/FE00:0:0:0:0:0:0:0", "X509v3 Basic Constraints: critical", "CA:TRUE, pathlen:0",
            "Certificate Sign",
        ] { #expect(text.contains(part), "\(part) in\n\(text)") }
        #expect(!text.contains("DNS:shelf.local"), "it is one of the .local names")
    }

    @Test func `issues a certificate that is good for each of the service's names and addresses, and no other`() throws
    {
        let keys = try Keys()
        try keys.write()
        for name in home.names { #expect(try keys.verifies("-verify_hostname", name), "\(name)") }
        for address in home.addresses { #expect(try keys.verifies("-verify_ip", address), "\(address)") }
        #expect(try !keys.verifies("-verify_hostname", "other.local"))
        #expect(try !keys.verifies("-verify_ip", "192.168.1.6"))
    }

    @Test(.enabled(if: hasCerttool, "the command certtool is not installed: apt-get install gnutls-bin"))
    func `is good for GnuTLS, too`() throws {
        let keys = try Keys()
        keys.clock.set(Date())
        try keys.write()
        for name in home.names {
            let answer = try keys.otherVerifies("--verify-hostname", name)
            #expect(answer.isGood, "\(name): \(answer.output)")
        }
        #expect(try !keys.otherVerifies("--verify-hostname", "other.local").isGood)
    }

    @Test(arguments: [("DNS:bank.example", false), ("IP:93.184.216.34", false), ("DNS:pi.local", true)])
    func `cannot be used to imitate others, even with its key`(subject: String, isGood: Bool) throws {
        let keys = try Keys()
        try keys.write()
        try keys.scratch.write(Array("subjectAltName=\(subject)\n".utf8), to: "leaf.ext")
        #expect(
            try keys.openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", "k", "-out", "csr")
                .status == 0)
        let authority = keys.folder + "/authority.pem"
        #expect(
            try keys.openssl(
                "x509", "-req", "-in", "csr", "-CA", authority, "-CAkey", authority, "-set_serial", "7", "-extfile",
                "leaf.ext", "-out", "leaf.pem"
            ).status == 0)
        let checked = try keys.openssl("verify", "-CAfile", "trusted.pem", "-no_check_time", "leaf.pem")
        #expect((checked.status == 0) == isGood, "\(checked.output)")
        #expect(isGood || checked.output.contains("permitted subtree violation"))
    }

    /// The keys were made by Bookplate 0.1.0 with swift-certificates, on 2026-11-28.
    @Test func `that an earlier version made stays good, and so does the certificate that it issued`() throws {
        let keys = try Keys()
        try FileManager.default.createDirectory(
            atPath: keys.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let earlier = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "EarlierAuthority")
        for name in ["authority.pem", "service.pem"] {
            let bytes = try readFile(earlier.appending(path: name).path, limit: 1 << 20)
            try replaceFile(keys.folder + "/" + name, with: bytes, mode: 0o600)
        }
        keys.clock.set(Date(timeIntervalSince1970: 1_796_126_400))
        let subjects = Subjects(
            names: ["localhost", "shelf.local", "vm.local"], addresses: ["127.0.0.1", "::1", "fd00::2"])
        let service = try String(contentsOfFile: keys.folder + "/service.pem", encoding: .utf8)
        let stored = try keys.authority.certificate(for: subjects)
        #expect(service.hasPrefix(stored.chain) && service.hasSuffix(stored.key))
        #expect(try keys.authority.refusedSubjects(of: home) == ["books.example"])
        let trusted = try keys.authority.authority(for: subjects)
        for _ in 0..<10 {
            keys.clock.advance(by: 360)
            try keys.write(subjects)
            #expect(try keys.authority.authority(for: subjects) == trusted)
            #expect(try keys.authority.certificate(for: subjects) != stored)
            for name in subjects.names { #expect(try keys.verifies("-verify_hostname", name), "\(name)") }
        }
    }

    @Test func `keeps its keys where only their owner reads them`() throws {
        let keys = try Keys()
        try keys.write()
        #expect(try keys.mode(keys.folder) == 0o700)
        for file in ["authority.pem", "service.pem"] { #expect(try keys.mode(keys.folder + "/" + file) == 0o600) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys.folder).count == 2, "nothing else is left")
    }

    @Test func `is made once, even if two programs begin at the same moment`() async throws {
        let keys = try Keys()
        let made = try await withThrowingTaskGroup(of: AuthorityCertificate.self) { group in
            for _ in 0..<8 { group.addTask { try keys.authority.authority(for: home) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(made.map(\.fingerprint)).count == 1)
        try keys.write()
        #expect(try keys.verifies("-verify_hostname", "shelf.local"))
    }

    private func isDamaged(_ error: any Error, _ path: String) -> Bool {
        if case .damaged(path, _) = error as? CertificateError { true } else { false }
    }

    @Test func `that is damaged is never replaced, because phones trust it`() throws {
        let keys = try Keys()
        try keys.write()
        let path = keys.folder + "/authority.pem"
        try replaceFile(path, with: "-----BEGIN CERTIFICATE-----\n".utf8, mode: 0o600)
        #expect { try keys.authority.certificate(for: home) } throws: { isDamaged($0, path) }
        #expect { try keys.authority.authority(for: home) } throws: { isDamaged($0, path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "-----BEGIN CERTIFICATE-----\n")
    }

    @Test
    func `is good when the clock has been set, although it was made with the clock of a Raspberry Pi at its start`()
        throws
    {
        let keys = try Keys()
        keys.clock.set(Date(timeIntervalSince1970: 0))
        try keys.write()
        keys.clock.set(Date(timeIntervalSince1970: 1_795_262_400))
        try keys.write()
        #expect(try keys.verifies("-verify_hostname", "shelf.local"))
    }
}

@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct `The service's certificate` {
    @Test func `is valid for at most 397 days and renewed when a third of them is left`() throws {
        let keys = try Keys()
        let authority = keys.authority
        let first = try authority.certificate(for: home)
        let from = first.validity.lowerBound
        #expect(first.expiry.timeIntervalSince(from) <= 397 * 86_400 && from < keys.clock.now)
        keys.clock.set(from + 397 * 86_400 * 2 / 3 - 60)
        #expect(try authority.certificate(for: home) == first && keys.authority.certificate(for: home) == first)
        keys.clock.advance(by: 0.01)
        let second = try authority.certificate(for: home)
        #expect(second != first && second.key != first.key)
        #expect(try keys.authority.certificate(for: home) == second, "a new process uses it too")
        try keys.write()
        #expect(try keys.verifies("-verify_hostname", "shelf.local"))
    }

    @Test func `is renewed over all the years of its authority`() throws {
        let keys = try Keys()
        try keys.write()
        let trusted = try keys.authority.authority(for: home)
        for _ in 0..<40 {
            keys.clock.advance(by: 90)
            #expect(try keys.authority.authority(for: home) == trusted)
            try keys.write()
            #expect(try keys.verifies("-verify_ip", "192.168.1.5"), "\(keys.clock.now)")
        }
    }

    @Test func `follows the machine to another address`() throws {
        let keys = try Keys()
        let authority = keys.authority
        try keys.write()
        let moved = Subjects(names: home.names, addresses: ["10.0.0.7", "127.0.0.1"])
        let renewed = try authority.certificate(for: moved)
        #expect(try authority.certificate(for: moved) == renewed)
        try keys.write(moved)
        #expect(try keys.verifies("-verify_ip", "10.0.0.7"))
        #expect(try !keys.verifies("-verify_ip", "192.168.1.5"))
    }

    @Test func `leaves out what its authority may not vouch for, and stays good for the rest`() throws {
        let keys = try Keys()
        try keys.write()
        let more = Subjects(
            names: home.names + ["den.example", "den.local"], addresses: home.addresses + ["93.184.216.34"])
        try keys.write(more)
        #expect(try keys.verifies("-verify_hostname", "den.local"))
        #expect(try !keys.verifies("-verify_hostname", "den.example"))
        #expect(try keys.authority.refusedSubjects(of: more) == ["den.example", "93.184.216.34"])
        #expect(try keys.authority.refusedSubjects(of: home) == [])
    }

    @Test func `that cannot be stored is used all the same`() throws {
        let keys = try Keys()
        try keys.write()
        let errors = Mutex(0)
        let path = keys.folder + "/service.pem"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path + "/in-the-way", withIntermediateDirectories: true)
        #expect(throws: CertificateError.self, "what is there cannot be read") {
            try keys.authority.certificate(for: home)
        }
        try FileManager.default.removeItem(atPath: path)
        let authority = StationAuthority(
            folder: keys.folder, now: { [clock = keys.clock] in clock.now },
            onError: { _ in errors.withLock { $0 += 1 } })
        let first = try authority.certificate(for: home)
        #expect(errors.withLock { $0 } == 0)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: keys.folder + "/authority.pem")
        try FileManager.default.removeItem(atPath: keys.folder)
        keys.clock.advance(by: 300)
        let second = try authority.certificate(for: home)
        #expect(second != first && errors.withLock { $0 } == 1)
        #expect(try authority.certificate(for: home) == second && errors.withLock { $0 } == 1, "it is not made again")
    }

    @Test func `is never for a name without a dot, which could be a domain of the internet`() {
        #expect(Subjects(names: ["dev", "LOCALHOST", "dev.local"], addresses: []).names == ["dev.local", "localhost"])
    }

    @Test(arguments: ["", "garbage", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"])
    func `that is damaged is made again`(text: String) throws {
        let keys = try Keys()
        try keys.write()
        try replaceFile(keys.folder + "/service.pem", with: text.utf8, mode: 0o600)
        try keys.write()
        #expect(try keys.verifies("-verify_hostname", "shelf.local"))
    }

    @Test func `of another authority is made again`() throws {
        let (keys, others) = (try Keys(), try Keys())
        try keys.write()
        try others.write()
        let path = keys.folder + "/service.pem"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: others.folder + "/service.pem", toPath: path)
        try keys.write()
        #expect(try keys.verifies("-verify_hostname", "shelf.local"))
    }
}

@Suite struct `The fingerprint of an authority` {
    @Test(arguments: [(0x7F00, "lusab"), (0x0001, "babad"), (0x3F54, "gutih"), (0xDCC1, "tugad")])
    func `is spoken in the words of Wilkerson's paper`(bits: Int, word: String) {
        #expect(AuthorityCertificate.word(UInt16(bits)) == word)
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
    func `is the one that other programs show`() throws {
        let keys = try Keys()
        try keys.write()
        let shown = try keys.openssl("x509", "-in", "trusted.pem", "-noout", "-fingerprint", "-sha256").output
        let own = try keys.authority.authority(for: home)
        #expect(shown.contains(own.fingerprint.replacing(" ", with: ":")))
        #expect(own.words.split(separator: " ").count == 8)
        #expect(try AuthorityCertificate(pem: own.pem) == own)
    }
}

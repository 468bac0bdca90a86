import Foundation
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import Certificates

/// Certificates that openssl makes in a folder, as certbot or Tailscale would.
private struct Folder {
    let scratch: Scratch
    let errors = Errors()

    init() throws { scratch = try Scratch() }

    final class Errors: Sendable {
        private let kept = Mutex<[CertificateError]>([])
        var all: [CertificateError] { kept.withLock { $0 } }
        func add(_ error: CertificateError) { kept.withLock { $0.append(error) } }
    }

    var certificate: String { scratch.file("cert.pem") }
    var key: String { scratch.file("key.pem") }

    func make(_ name: String, _ algorithm: [String] = ["rsa:2048"], _ more: [String] = ["-nodes"]) throws {
        let made = try OpenSSL.run(
            ["req", "-x509", "-newkey"] + algorithm + more
                + ["-subj", "/CN=\(name)", "-days", "30", "-keyout", "new.key", "-out", "new.pem"],
            in: scratch.path)
        #expect(made.status == 0, "\(made.output)")
    }

    func use(_ from: String, as path: String) throws {
        try replaceFile(path, with: try readFile(scratch.file(from), limit: 1 << 20), mode: 0o600)
    }

    func files(key other: String? = nil) -> CertificateFiles {
        CertificateFiles(certificate: certificate, key: other ?? key) { [errors] in errors.add($0) }
    }
}

@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct `A certificate in files` {
    /// Returns the subject's name, as openssl prints it.
    private func name(_ certificate: ServerCertificate) throws -> String {
        try OpenSSL.run(["x509", "-noout", "-subject"], in: "/", input: certificate.chain).output
    }

    @Test(arguments: [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["ed25519"]])
    func `is used with every usual kind of key`(algorithm: [String]) throws {
        let folder = try Folder()
        try folder.make("one", algorithm)
        try folder.use("new.pem", as: folder.certificate)
        try folder.use("new.key", as: folder.key)
        #expect(try name(folder.files().certificate()).contains("one"))
    }

    @Test func `may be in one file with its key`() throws {
        let folder = try Folder()
        try folder.make("one")
        let both =
            try readFile(folder.scratch.file("new.key"), limit: 1 << 20)
            + readFile(folder.scratch.file("new.pem"), limit: 1 << 20)
        try replaceFile(folder.certificate, with: both, mode: 0o600)
        #expect(try name(folder.files(key: folder.certificate).certificate()).contains("one"))
    }

    @Test func `is read again when it changes, and the earlier one is used until both files have changed`() throws {
        let folder = try Folder()
        try folder.make("one")
        try folder.use("new.pem", as: folder.certificate)
        try folder.use("new.key", as: folder.key)
        let files = folder.files()
        #expect(try name(files.certificate()).contains("one"))
        try folder.make("two")
        try folder.use("new.pem", as: folder.certificate)
        for _ in 0..<3 { #expect(try name(files.certificate()).contains("one")) }
        #expect(
            folder.errors.all == [
                .noPair(paths: [folder.certificate, folder.key], reason: "the key belongs to another certificate")
            ], "reported once")
        try folder.use("new.key", as: folder.key)
        #expect(try name(files.certificate()).contains("two"))
        try FileManager.default.removeItem(atPath: folder.key)
        #expect(try name(files.certificate()).contains("two"))
        #expect(folder.errors.all.count == 2)
    }

    @Test func `whose key is too short for TLS is refused with the reason, and an earlier one is used on`() throws {
        let folder = try Folder()
        try folder.make("short", ["rsa:1024"])
        try folder.use("new.pem", as: folder.certificate)
        try folder.use("new.key", as: folder.key)
        let refusal = CertificateError.noPair(
            paths: [folder.certificate, folder.key], reason: "cannot use the certificate: ee key too small")
        #expect(throws: refusal) { try folder.files().certificate() }
        let files = folder.files()
        for (name, algorithm) in [("good", "rsa:2048"), ("short", "rsa:1024")] {
            try folder.make(name, [algorithm])
            try folder.use("new.pem", as: folder.certificate)
            try folder.use("new.key", as: folder.key)
            #expect(try self.name(files.certificate()).contains("good"))
        }
        #expect(folder.errors.all == [refusal])
    }

    private let broken = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"

    @Test func `without which nothing can begin is an error that names the file`() throws {
        let folder = try Folder()
        #expect(throws: CertificateError.unreadable(FileError(path: folder.certificate, errno: .noSuchFileOrDirectory)))
        {
            try folder.files().certificate()
        }
        try folder.make("one")
        try replaceFile(
            folder.certificate, with: try readFile(folder.scratch.file("new.pem"), limit: 1 << 20) + Array(broken.utf8),
            mode: 0o600)
        try folder.use("new.key", as: folder.key)
        #expect(throws: CertificateError.self, "no certificate of the chain is dropped") {
            try folder.files().certificate()
        }
        try folder.make("one", ["rsa:2048"], ["-passout", "pass:secret"])
        try folder.use("new.pem", as: folder.certificate)
        try folder.use("new.key", as: folder.key)
        #expect(
            throws: CertificateError.noPair(paths: [folder.certificate, folder.key], reason: "the key has a password")
        ) {
            try folder.files().certificate()
        }
    }
}

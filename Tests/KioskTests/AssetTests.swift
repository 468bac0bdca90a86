import Processes
import Testing

@testable import Kiosk

@Suite struct `A script or a style` {
    private static let path = "/assets/base.css"
    private static let whole = WebFolder.bundled

    @Test(arguments: ["gzip", "br, GZIP;q=0.5", "deflate, gzip , br"])
    func `is compressed for clients that accept gzip`(_ accepted: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("GET", Self.path, [("Accept-Encoding", accepted)])
            #expect(answer.status == 200 && answer["content-encoding"] == "gzip")
            #expect(answer["vary"] == "Accept-Encoding" && answer["content-type"] == "text/css; charset=utf-8")
            let asset = try #require(try Self.whole.get().assets["base.css"])
            #expect(answer["content-length"] == "\(try #require(asset.compressed).count)")
        }
    }

    @Test(arguments: ["", "identity", "gzip;q=0", "br, gzip; q=0.0", "x-gzipped"])
    func `is sent as it is to other clients`(_ accepted: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("GET", Self.path, accepted.isEmpty ? [] : [("Accept-Encoding", accepted)])
            #expect(answer.status == 200 && answer["content-encoding"] == nil && answer["vary"] == "Accept-Encoding")
            #expect(try Array(answer.body.utf8) == Self.whole.get().assets["base.css"]?.bytes)
        }
    }

    @Test func `that the browser has cached is not sent again`() async throws {
        try await withWebKiosk { kiosk in
            var tags: Set<String> = []
            for accepted in ["gzip", "identity"] {
                let header = ("Accept-Encoding", accepted)
                let tag = try #require(try await kiosk.ask("GET", Self.path, [header])["etag"])
                let again = try await kiosk.ask("GET", Self.path, [header, ("If-None-Match", tag)])
                #expect(again.status == 304 && again.body.isEmpty && again["etag"] == tag)
                tags.insert(tag)
            }
            #expect(tags.count == 2)
        }
    }

    /// The browser's tests therefore measure the pages in light only.
    @Test func `has other colours in the dark, and nothing else`() throws {
        for (name, asset) in try Self.whole.get().assets where name.hasSuffix(".css") {
            let style = String(decoding: asset.bytes, as: UTF8.self)
            #expect(!style.contains("prefers-color-scheme"), "\(name)")
            let rules = style.matches(of: /[^\n}]*\[data-appearance[^{]*\{([^}]*)\}/)
            #expect(rules.allSatisfy { $0.1.wholeMatch(of: /\s*color-scheme: (light|dark);\s*/) != nil }, "\(name)")
            #expect(!rules.isEmpty || name != "base.css")
        }
    }

    @Test func `is restored by gzip, and is smaller compressed`() throws {
        let packed = try Self.whole.get().assets.values.compactMap { asset in asset.compressed.map { (asset.bytes, $0) }
        }
        #expect(packed.count > 20)
        for (bytes, compressed) in packed {
            #expect(compressed.count < bytes.count)
            #expect(try unpacked(compressed) == bytes)
        }
    }

    @Test func `is sent without the comments that have lines of their own, and its lines keep their numbers`() throws {
        let source = """
            // One.
            /**
             * Two, with a * and a /.
             */
            const three = "http://example.org"; // Three.
              /* Four. */ const five = /[/*]/;
            /* Six. */
            const seven = 7;
            """
        let sent = """




            const three = "http://example.org"; // Three.
             const five = /[/*]/;

            const seven = 7;
            """
        #expect(WebFolder.withoutComments(source) == sent)
        let lines = try Self.whole.get().assets.filter { $0.key.hasSuffix(".js") || $0.key.hasSuffix(".css") }
            .flatMap { String(decoding: $0.value.bytes, as: UTF8.self).split(separator: "\n") }
        #expect(lines.count > 2000 && lines.allSatisfy { $0.contains { !$0.isWhitespace } })
        #expect(!lines.contains { $0.hasPrefix("//") || $0.hasPrefix("/*") || $0.hasPrefix(" *") })
    }

    @Test func `that would grow is not compressed`() {
        #expect(Gzip.compressed([]) == nil)
        #expect(Gzip.compressed(Array("abc".utf8)) == nil)
    }

    /// Decompresses with gzip.
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        let ending = try ChildProcess.run(
            .init(path: "/usr/bin/gzip", arguments: ["gzip", "-dc"]), input: bytes, within: .seconds(30), limit: 1 << 20
        )
        guard case .answered(let answer, _, .exited(0)) = ending else {
            Issue.record("gzip: \(ending)")
            return []
        }
        return answer
    }
}

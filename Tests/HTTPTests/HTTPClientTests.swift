import FaultServer
import Testing

@testable import HTTP

/// The options set for libcurl, and its behaviour with misbehaving servers.
@Suite struct HTTPClientTests {
    let server: FaultServer
    let client = HTTPClient(userAgent: "Bookplate/1.0 (+https://bookplate.example; station@example.org)")
    /// Short limits for requests that end only by time, long enough for a busy machine to connect.
    let impatient = HTTPLimits(total: .seconds(2))

    init() throws { server = try FaultServer() }

    func get(_ path: String, _ limits: HTTPLimits = HTTPLimits()) async throws(TransportError) -> HTTPAnswer {
        guard let address = WebAddress(server.address + path) else { throw .other("no address: \(path)") }
        return try await client.send(HTTPRequest(address: address, limits: limits))
    }

    @Test func `sends the user agent, and reads status, type and body`() async throws {
        server.on("/a", .json(#"{"a":1}"#, status: 203))
        let answer = try await get("/a")
        #expect(answer.status == 203)
        #expect(answer.contentType == "application/json")
        #expect(answer.body == Array(#"{"a":1}"#.utf8))
        let headers = try #require(server.requests.first).headers
        #expect(headers["user-agent"] == "Bookplate/1.0 (+https://bookplate.example; station@example.org)")
        #expect(headers["accept"] == "application/json")
        #expect(headers["cookie"] == nil)
    }

    @Test func `a body of the limit's size is accepted, one byte more is not`() async throws {
        server.on("/fits", .json(String(repeating: " ", count: 1000)))
        server.on("/over", .json(String(repeating: " ", count: 1001)), .chunks(String(repeating: " ", count: 1001)))
        let limits = HTTPLimits(body: 1000)
        #expect(try await get("/fits", limits).body.count == 1000)
        for _ in ["with its length", "without"] {
            await #expect(throws: TransportError.tooLarge(limit: 1000)) { try await get("/over", limits) }
        }
    }

    @Test(arguments: ["endless chunks", "a gzip bomb"])
    func `the body is counted while it is read, after decompression`(_ fault: String) async throws {
        server.on("/", fault == "a gzip bomb" ? .gzipBomb(size: 64 << 20) : .endless)
        await #expect(throws: TransportError.tooLarge(limit: 1 << 20)) { try await get("/") }
    }

    @Test func `headers are limited`() async throws {
        server.on("/", .endlessHeaders)
        await #expect(throws: TransportError.tooLarge(limit: 64 << 10)) { try await get("/") }
    }

    @Test func `a server that accepts the request and never answers is a time-out`() async throws {
        server.on("/", .blackHole)
        await #expect(throws: TransportError.timedOut(connecting: false)) { try await get("/", impatient) }
    }

    @Test func `a host that never connects is distinguished from one that never answers`() async throws {
        let port = try DeafPort()
        let address = try #require(WebAddress(port.address))
        await #expect(throws: TransportError.timedOut(connecting: true)) {
            try await client.send(HTTPRequest(address: address, limits: HTTPLimits(connect: .milliseconds(300))))
        }
    }

    @Test func `one byte a second is a time-out`() async throws {
        server.on("/", .drip(String(repeating: "x", count: 100)))
        let slow = HTTPLimits(total: .seconds(60), slowFor: .seconds(2))
        await #expect(throws: TransportError.timedOut(connecting: false)) { try await get("/", slow) }
    }

    @Test(arguments: [
        ("a shorter body than declared", Reply.cut("{}", length: 100), TransportError.truncated),
        ("chunks without an end", .cutChunks("{"), .truncated),
        ("a reset", .reset, .reset),
        ("nothing", .raw([]), .reset),
    ])
    func `a truncated answer is distinguished from a complete one`(
        _ fault: String, _ reply: Reply, _ expected: TransportError
    ) async throws {
        server.on("/", reply)
        await #expect(throws: expected) { try await get("/") }
    }

    @Test func `an answer that is not HTTP is garbled`() async throws {
        server.on("/", .raw(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)))
        await #expect {
            try await get("/")
        } throws: { error in
            if case .garbled = error as? TransportError { true } else { false }
        }
    }

    @Test func `a closed port and an unknown name are offline`() async throws {
        server.stop()
        let nowhere = try #require(WebAddress("https://no-such-host.invalid/"))
        for address in [try #require(WebAddress(server.address)), nowhere] {
            await #expect {
                try await client.send(HTTPRequest(address: address))
            } throws: { error in
                if case .offline = error as? TransportError { true } else { false }
            }
        }
    }

    @Test func `does not follow redirects, but returns their target`() async throws {
        server.on("/a/b", .redirect(to: "../c?d=1"))
        let answer = try await get("/a/b")
        #expect(answer.isRedirect)
        #expect(answer.redirect?.description == server.address + "/c?d=1")
        #expect(server.requests.count == 1)
    }

    @Test func `cancelling the task ends the transfer at once`() async throws {
        server.on("/", .blackHole)
        let patient = HTTPLimits(total: .seconds(600), slowFor: .seconds(600))
        let task = Task { () async throws(TransportError) -> HTTPAnswer in try await get("/", patient) }
        var arrivals = server.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        let task = Task { () async throws(TransportError) -> HTTPAnswer in
            while !Task.isCancelled { await Task.yield() }
            return try await get("/")
        }
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test func `fifty requests at once are all answered, on one thread`() async throws {
        server.on("/", .json("{}"))
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do throws(TransportError) { return try await get("/").status == 200 } catch { return false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(answered == 50)
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a private address is refused before connecting, even behind a name`(_ host: String) async throws {
        let port = try #require(server.address.split(separator: ":").last)
        let address = try #require(WebAddress("http://\(host):\(port)/"))
        await #expect(throws: TransportError.privateAddress(host)) {
            try await client.send(HTTPRequest(address: address, allowed: .publicOnly))
        }
        #expect(server.requests.isEmpty)
    }
}

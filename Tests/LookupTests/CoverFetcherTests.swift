import Bookplate
import FaultServer
import HTTP
import TestTools
import Testing

@testable import Lookup

@Suite struct CoverFetcherTests {
    let server: FaultServer
    let fetcher: CoverDownloader
    let states = MemoryStates()
    let clock = JumpClock()
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]

    init() throws {
        server = try FaultServer()
        fetcher = try Self.fetcher(server.address, states, clock)
    }

    static func fetcher(
        _ covers: String, _ states: MemoryStates, _ clock: JumpClock, limits: HTTPLimits = CoverDownloader.limits,
        order: SourceOrder = .standard
    ) throws -> CoverDownloader {
        let configuration = try LookupConfiguration(
            version: "1.0", homepage: "https://bookplate.example", covers: covers)
        let policy = RequestPolicy(
            http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: { clock.date }),
            limits: limits)
        return CoverDownloader(configuration, hasProxy: false, order: { order }, policy: policy)
    }

    @Test(arguments: [
        Self.jpeg, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], Array("GIF89a".utf8),
        Array("RIFF\0\0\0\0WEBPVP8 ".utf8),
    ])
    func `a picture is recognised by its first bytes, whatever the server calls it`(_ bytes: [UInt8]) async throws {
        server.on("/b/id/1-L.jpg", .answer(bytes, type: "text/html"))
        #expect(try await fetcher.cover(at: "https://covers.openlibrary.org/b/id/1-L.jpg") == bytes)
        // Without this parameter, a missing cover would be a blank picture.
        #expect(server.requests.first?.query("default") == "false")
    }

    @Test func `the cover of a source that is switched off is not asked for`() async throws {
        let fetcher = try Self.fetcher(server.address, states, clock, order: SourceOrder([.googleBooks]))
        let error = await #expect(throws: SourceError.self) {
            try await fetcher.cover(at: "https://covers.openlibrary.org/b/id/2-L.jpg")
        }
        #expect(
            error?.reason == "Open Library is switched off in the settings" && error?.retryAfter == .seconds(86_400))
        #expect(server.requests.isEmpty)
    }

    @Test func `Google's drawn page corner is left out of an address that was stored with it`() throws {
        let covers = CoverAddress(base: try #require(WebAddress("https://covers.openlibrary.org")))
        let stored =
            "https://books.google.com/books/content?id=x&printsec=frontcover&img=1&zoom=1&edge=curl&source=gbs_api"
        #expect(
            covers.fetched(stored)?.description
                == "https://books.google.com/books/content?id=x&printsec=frontcover&img=1&zoom=1&source=gbs_api")
    }

    @Test func `the large covers of the sources are asked for first`() throws {
        let (dnb, openLibrary) = (
            "https://portal.dnb.de/opac/mvb/cover?isbn=9783161484100",
            "https://covers.openlibrary.org/b/isbn/9783161484100-L.jpg"
        )
        let (google, chosen) = ("https://books.google.com/x", "https://covers.openlibrary.org/b/id/7-L.jpg")
        for (isbn, url, isChosen, expected) in [
            ("9783161484100", nil, false, [dnb, openLibrary]),
            ("9783161484100", google, false, [dnb, openLibrary, google]),
            ("9783161484100", chosen, false, [dnb, chosen]), ("9783161484100", google, true, [google]),
            ("9780140449266", chosen, false, [chosen]), (nil, google, false, [google]), (nil, nil, false, []),
        ] as [(String?, String?, Bool, [String])] {
            let missing = MissingCover(
                edition: ID(), isbn: try isbn.map { try ISBN($0) }, url: url, isChosen: isChosen)
            #expect(CoverAddress.addresses(of: missing) == expected)
        }
    }

    @Test func `a missing cover is not an error`() async throws {
        #expect(try await fetcher.cover(at: "https://covers.openlibrary.org/b/id/2-L.jpg") == nil)
    }

    @Test func `a redirect within the base is followed, at most three times`() async throws {
        server.on("/b/id/1-L.jpg", .redirect(to: "/1"))
        server.on("/1", .redirect(to: "/2"))
        server.on("/2", .redirect(to: "/3"))
        server.on("/3", .answer(Self.jpeg, type: "image/jpeg"), .redirect(to: "/4"))
        #expect(try await fetcher.cover(at: server.address + "/b/id/1-L.jpg") == Self.jpeg)
        await #expect(throws: SourceError.self) { try await fetcher.cover(at: server.address + "/b/id/1-L.jpg") }
        #expect(server.count("/4") == 0)
    }

    @Test(arguments: [
        "http://169.254.169.254/latest", "http://10.0.0.1/x.jpg", "http://0x7f000001/x.jpg",
        "https://evil.example/x.jpg",
        "http://covers.openlibrary.org/x.jpg", "file:///etc/passwd", "https://archive.org:22/x",
        "https://169.254.169.254/x.jpg", "https://localhost/x.jpg", "http://127.0.0.1:1/x.jpg",
        "https://2130706433/x.jpg",
        "https://[::1]/x.jpg", "https://[fe80::1]/x.jpg", "//127.0.0.1:1/x.jpg", "gopher://127.0.0.1/x",
        "data:image/png,x",
    ])
    func `a redirect to a host that is not allowed is not followed`(_ target: String) async throws {
        server.on("/b/id/1-L.jpg", .redirect(to: target))
        await #expect(throws: SourceError.self) { try await fetcher.cover(at: server.address + "/b/id/1-L.jpg") }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "http://127.0.0.1:1/x.jpg", "https://127.0.0.1/x.jpg", "https://2130706433/x.jpg", "https://127.1/x.jpg",
        "https://169.254.169.254/latest", "http://169.254.1.1/x.jpg", "https://0177.0.0.1/x.jpg", "https://[::1]/x.jpg",
        "https://[fe80::1]/x.jpg", "https://10.0.0.1/x.jpg", "https://192.168.1.1/x.jpg", "https://0/x.jpg",
        "data:image/png,x",
        "https://covers.openlibrary.org:22/x.jpg", "//127.0.0.1/x.jpg",
        "https://[::ffff:127.0.0.1]/x.jpg",
        "https://localhost/x.jpg", "https://evil.example/x.jpg", "https://openlibrary.org.evil.example/x.jpg",
        "https://covers.openlibrary.org@evil.example/x.jpg", "ftp://archive.org/x.jpg", "file:///etc/passwd", "",
    ])
    func `any other address is refused without a connection`(_ address: String) async throws {
        await #expect(
            throws: SourceError(source: nil, reason: "the cover's address is not valid, or its host is not allowed")
        ) { try await fetcher.cover(at: address) }
    }

    @Test func `a cover that is not a picture, too large or late is an error that says so`() async throws {
        server.on("/b/id/1-L.jpg", .page("<html>"), .json("{}"), .endless, .status(503), .blackHole)
        let address = server.address + "/b/id/1-L.jpg"
        let impatient = try Self.fetcher(
            server.address, states, clock, limits: HTTPLimits(total: .seconds(2), body: 5 << 20))
        for (fetcher, reason) in [
            (fetcher, "answered with a web page; the network requires you to sign in"),
            (fetcher, "sent something other than a picture"),
            (fetcher, "the answer is larger than 5120 KiB"), (fetcher, "is not working (503)"),
            (impatient, "the complete answer did not arrive in time"),
        ] {
            await #expect(throws: SourceError(source: .openLibraryCovers, reason: reason)) {
                try await fetcher.cover(at: address)
            }
        }
        #expect(server.requests.count == 5)
    }

    @Test func `a name that resolves to a private address is refused before connecting`() async throws {
        // The base may be another machine, but its name must resolve to a public address.
        let fetcher = try Self.fetcher("https://192.168.0.1", states, clock)
        await #expect(
            throws: SourceError(
                source: .openLibraryCovers,
                reason: "192.168.0.1 is a private address, so Bookplate did not connect to it")
        ) { try await fetcher.cover(at: "https://covers.openlibrary.org/b/id/1-L.jpg") }
    }

    @Test func `a name that resolves to this machine is refused before connecting`() async throws {
        // The base has the name of another machine, but the name resolves to this machine (RFC 6761, 6.3), which
        // libcurl knows without a resolver.
        let port = try #require(server.address.split(separator: ":").last)
        let fetcher = try Self.fetcher("https://covers.localhost:\(port)", states, clock)
        let failure = await #expect(throws: SourceError.self) {
            try await fetcher.cover(at: "https://covers.openlibrary.org/b/id/1-L.jpg")
        }
        #expect(failure?.reason.contains("private address, so Bookplate did not connect to it") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func `two fetchers with shared state obey one rate limit, including redirects`() async throws {
        let clock = clock
        server.stampRequests { clock.now.offset }
        server.on("/b/id/1-L.jpg", .redirect(to: "/1"))
        server.on("/1", .answer(Self.jpeg, type: "image/jpeg"))
        let fetchers = [fetcher, try Self.fetcher(server.address, states, clock)]
        for _ in 0..<5 {
            for fetcher in fetchers { _ = try await fetcher.cover(at: server.address + "/b/id/1-L.jpg") }
        }
        let times = server.requests.map(\.time)
        #expect(times.count == 20)
        for (number, time) in times.enumerated() {
            #expect(time >= .seconds(number - 2), "request \(number + 1) went out at \(time)")
        }
    }

    @Test func `fetching covers does not use up the catalogue's rate limit`() async throws {
        server.on("/b/id/1-L.jpg", .answer(Self.jpeg, type: "image/jpeg"))
        for _ in 0..<10 { _ = try await fetcher.cover(at: server.address + "/b/id/1-L.jpg") }
        #expect(await states.states[.openLibrary] == nil)
        let rig = try Rig(states: states)
        _ = try await rig.outcome()
        #expect(rig.clock.slept.isEmpty)
    }

    @Test func `a cover that would wait more than 10 s is postponed, with the time to try again`() async throws {
        let now = clock.date
        try await states.update(.openLibraryCovers) { state in for _ in 0..<15 { _ = state.bucket.consume(at: now) } }
        let failure = await #expect(throws: SourceError.self) {
            try await fetcher.cover(at: server.address + "/b/id/1-L.jpg")
        }
        #expect(failure?.reason == "other requests from this machine must be sent first")
        #expect(try #require(failure?.retryAfter) > .seconds(10))
        #expect(server.requests.isEmpty)
    }

    @Test func `the waits and redirects of one cover take at most 10 s together`() async throws {
        let clock = clock
        let now = clock.date
        // The first request waits 5 s for the rate limit, and its redirect would wait 5 s more.
        try await states.update(.openLibraryCovers) { state in for _ in 0..<7 { _ = state.bucket.consume(at: now) } }
        server.on(
            "/b/id/1-L.jpg",
            Reply { connection, request in
                clock.advance(by: .seconds(5))
                Reply.redirect(to: "/1").send(connection, request)
            })
        let failure = await #expect(throws: SourceError.self) {
            try await fetcher.cover(at: server.address + "/b/id/1-L.jpg")
        }
        #expect(failure?.reason == "there was no time left for a request")
        #expect(server.count("/1") == 0)
    }

    @Test func `after a 429 every process leaves the server alone for the requested time`() async throws {
        server.on("/b/id/1-L.jpg", .status(429, headers: ["Retry-After": "120"]))
        let address = server.address + "/b/id/1-L.jpg"
        for reason in ["has received too many requests (429)", "asked for a pause before the next request"] {
            let failure = await #expect(throws: SourceError.self) { try await fetcher.cover(at: address) }
            #expect(failure?.reason == reason)
            #expect(try #require(failure?.retryAfter) >= .seconds(119))
        }
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(121))
        server.on("/b/id/1-L.jpg", .answer(Self.jpeg, type: "image/jpeg"))
        #expect(try await fetcher.cover(at: address) == Self.jpeg)
    }

    @Test func `after five failures in a row the cover server is left alone for 30 s`() async throws {
        server.on("/b/id/1-L.jpg", .status(500))
        let address = server.address + "/b/id/1-L.jpg"
        for _ in 0..<5 { await #expect(throws: SourceError.self) { try await fetcher.cover(at: address) } }
        let failure = await #expect(throws: SourceError.self) { try await fetcher.cover(at: address) }
        #expect(failure?.reason == "failed 5 times in a row and will not be queried again for a while")
        #expect(server.requests.count == 5)
        clock.advance(by: .seconds(31))
        server.on("/b/id/1-L.jpg", .answer(Self.jpeg, type: "image/jpeg"))
        #expect(try await fetcher.cover(at: address) == Self.jpeg)
    }

    @Test func `a cancelled fetch says so and does not count against the server`() async throws {
        server.on("/b/id/1-L.jpg", .blackHole)
        let address = server.address + "/b/id/1-L.jpg"
        // No fetch may time out before it is cancelled, however busy the machine is.
        let patient = try Self.fetcher(
            server.address, states, clock, limits: HTTPLimits(total: .seconds(600), slowFor: .seconds(600)))
        let task = Task { try await patient.cover(at: address) }
        var arrivals = server.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await states.states[.openLibraryCovers]?.breaker.failures ?? 0 == 0)
    }
}

import Async
import Bookplate
import Foundation
import Library
import Station
import Testing

@testable import Kiosk

/// A decoder for frames that are texts: a frame shows the code that it names.
private struct TextDecoder: FrameDecoder {
    let shown: SharedValue<String>

    mutating func read(_ frame: Frame, into result: inout FrameResult) {
        let text = shown.value
        let corners = Corners(
            topLeft: Point(x: 10, y: 10), topRight: Point(x: 200, y: 10), bottomRight: Point(x: 200, y: 90),
            bottomLeft: Point(x: 10, y: 90))
        result.symbols = text.isEmpty ? [] : [Symbol(payload: text, quality: 9, corners: corners)]
        (result.unread, result.certain) = ([], [])
    }
}

/// Makes a reader of frames that are texts; "damaged" is none.
@Sendable private func textScan() throws -> PhoneScan {
    let shown = SharedValue("")
    return PhoneScan(
        decoder: TextDecoder(shown: shown),
        decode: { bytes, frame in
            frame = Frame(width: 320, height: 240)
            shown.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
            return shown.value != "damaged"
        }, thumbnail: { _, _ in [0xFF, 0xD8, 0xFF, 0xD9] })
}

private let dune = "9780441013593", emma = "9780141439587"

/// Runs a kiosk with an access code that phones can reach.
private func withPhones(_ body: (WebKiosk) async throws -> Void) async throws {
    try await withWebKiosk({ configuration, ports in
        ports.makePhoneScan = textScan
        ports.device = "shelf"
        configuration.ownAddresses = { [MachineAddress("127.0.0.2", interface: "lan0")] }
        configuration.address = "0.0.0.0"
    }) { kiosk async throws in
        try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
        try await body(kiosk)
    }
}

extension WebKiosk {
    /// - Returns: the token of a new invitation.
    fileprivate func invite() async throws -> String {
        let answer = try await ask("POST", "/api/phones/invitations", body: "{}")
        #expect(answer.status == 201, "\(answer)")
        return answer.text("address")?.split(separator: "#").last.map(String.init) ?? ""
    }

    fileprivate func enter(_ token: String, userAgent: String = "Mozilla (iPhone) Safari/604") async throws -> WebAnswer
    {
        try await askAsStranger(
            "POST", "/api/phones", [("User-Agent", userAgent)], body: "{\"token\": \"\(token)\"}")
    }

    /// Lets a phone in, and returns its cookie.
    fileprivate func phone() async throws -> String {
        try #require(try await enter(invite()).cookie)
    }

    fileprivate func frame(_ text: String, from cookie: String, type: String = "image/jpeg") async throws -> WebAnswer {
        try await askAsStranger(
            "PUT", "/api/phones/frame", [("Cookie", cookie), ("Content-Type", type)], body: text)
    }
}

@Suite struct `An invitation of a phone` {
    @Test func `lets one phone in, which Settings lists and ends`() async throws {
        try await withPhones { kiosk async throws in
            let token = try await kiosk.invite()
            #expect(token.count == 32)
            let entered = try await kiosk.enter(token)
            #expect(entered.status == 201 && entered["set-cookie"]?.contains("HttpOnly; SameSite=Strict") == true)
            let cookie = try #require(entered.cookie)
            #expect(try await kiosk.askAsStranger("GET", "/api/books", [("Cookie", cookie)]).status == 200)
            let again = try await kiosk.enter(token)
            #expect(again.status == 403 && again.text("error.code") == "invitationOver")
            let signIns = try await kiosk.library.signIns(at: kiosk.clock.now)
            #expect(signIns.map(\.device) == ["Safari, iPhone"])
            #expect(try await kiosk.ask("DELETE", "/api/sign-ins/\(signIns[0].id.rawValue)").status == 200)
            #expect(try await kiosk.askAsStranger("GET", "/api/books", [("Cookie", cookie)]).status == 401)
        }
    }

    @Test func `ends after five minutes`() async throws {
        try await withPhones { kiosk async throws in
            let (early, late) = (try await kiosk.invite(), try await kiosk.invite())
            kiosk.clock.advance(by: 299)
            #expect(try await kiosk.enter(early).status == 201)
            kiosk.clock.advance(by: 1)
            #expect(try await kiosk.enter(late).status == 403)
        }
    }

    @Test(arguments: ["", "0", String(repeating: "0", count: 32), "'; DROP TABLE signIn; --"])
    func `is not guessed`(token: String) async throws {
        try await withPhones { kiosk async throws in
            _ = try await kiosk.invite()
            #expect(try await kiosk.enter(token).status == 403)
            #expect(try await kiosk.library.signIns(at: kiosk.clock.now).isEmpty)
        }
    }

    @Test func `is made by nobody but the household`() async throws {
        try await withPhones { kiosk async throws in
            #expect(try await kiosk.askAsStranger("POST", "/api/phones/invitations", body: "{}").status == 401)
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            #expect(try await kiosk.askAsStranger("POST", "/api/phones/invitations", body: "{}").status == 401)
        }
    }

    @Test func `needs an access code, and an address that phones reach`() async throws {
        try await withWebKiosk { kiosk async throws in
            let open = try await kiosk.ask("POST", "/api/phones/invitations", body: "{}")
            #expect(open.status == 403 && open.text("error.code") == "noCode")
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let closed = try await kiosk.ask("POST", "/api/phones/invitations", body: "{}")
            #expect(closed.status == 409 && closed.text("error.code") == "notOpen")
        }
    }

    @Test func `leads to the name under which the page itself was opened`() async throws {
        try await withWebKiosk { kiosk async throws in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let cookie = try #require(try await kiosk.signIn().cookie)
            let answer = try await kiosk.ask(
                "POST", "/api/phones/invitations", host: WebKiosk.stranger,
                [("Cookie", cookie), ("Origin", "https://\(WebKiosk.stranger)")], body: "{}")
            #expect(answer.status == 201, "\(answer)")
            #expect(answer.text("address")?.hasPrefix("https://\(WebKiosk.stranger)/phone#") == true)
            #expect(answer.body.contains(#""isEncrypted":true"#))
        }
    }

    @Test func `ends when the access code is changed`() async throws {
        try await withPhones { kiosk async throws in
            let token = try await kiosk.invite()
            let body = "{\"code\": \"another code\", \"old\": \"\(WebKiosk.code)\"}"
            #expect(try await kiosk.ask("PUT", "/api/access-code", body: body).status == 200)
            #expect(try await kiosk.enter(token).status == 403)
        }
    }

    @Test func `is worth nothing once the access code has been removed`() async throws {
        try await withPhones { kiosk async throws in
            let token = try await kiosk.invite()
            try await kiosk.library.setAccessCode(nil, at: kiosk.clock.now)
            #expect(try await kiosk.enter(token).status == 403)
        }
    }
}

@Suite struct `The frames of a phone` {
    @Test func `capture a book once while it is shown, under the phone's name and with its own preset`() async throws {
        try await withPhones { kiosk async throws in
            let phone = try await kiosk.phone()
            let preset = #"{"shelf": "Attic"}"#
            #expect(
                try await kiosk.askAsStranger("PUT", "/api/station/preset", [("Cookie", phone)], body: preset).status
                    == 200)
            var captured = 0
            for _ in 0..<4 {
                let answer = try await kiosk.frame(dune, from: phone)
                #expect(answer.status == 200 && answer.body.contains(#""symbols":[[[10,10],"#), "\(answer)")
                captured += answer.body.components(separatedBy: "\"isbn13\"").count - 1
            }
            #expect(captured == 1)
            let items = try await kiosk.library.items(in: [.waiting])
            #expect(items.map(\.isbn.digits) == [dune])
            #expect(items.first?.device == "Safari, iPhone" && items.first?.origin == .camera)
            #expect(items.first?.preset.shelf == "Attic")
            let page = try await kiosk.ask("GET", "/scan")
            #expect(page.body.contains("from Safari, iPhone"))
        }
    }

    @Test func `make a list of its own on each phone, and the station's screen lists all`() async throws {
        try await withPhones { kiosk async throws in
            let phones = [try await kiosk.phone(), try await kiosk.phone()]
            for (phone, isbn) in zip(phones, [dune, emma]) {
                for _ in 0..<3 { _ = try await kiosk.frame(isbn, from: phone) }
            }
            func listed(_ path: String, by phone: String?) async throws -> [Bool] {
                let page =
                    if let phone {
                        try await kiosk.askAsStranger("GET", path, [("Cookie", phone)]).body
                    } else {
                        try await kiosk.ask("GET", path).body
                    }
                let list = page.components(separatedBy: "<ol class=\"rows\"").last ?? ""
                return ["978-0-441-01359-3", "978-0-14-143958-7"].map(list.contains)
            }
            #expect(try await listed("/scan", by: phones[0]) == [true, false])
            #expect(try await listed("/scan", by: phones[1]) == [false, true])
            #expect(try await listed("/scan?others=1", by: phones[1]) == [true, true])
            #expect(try await listed("/scan", by: nil) == [true, true])
        }
    }

    @Test func `can be undone on the phone that captured the book, and at the station`() async throws {
        try await withPhones { kiosk async throws in
            let phones = [try await kiosk.phone(), try await kiosk.phone()]
            for (phone, isbn) in zip(phones, [dune, emma]) {
                for _ in 0..<3 { _ = try await kiosk.frame(isbn, from: phone) }
            }
            let row = try #require(try await kiosk.library.items(in: [.waiting]).first { $0.isbn.digits == emma })
            #expect(try await kiosk.ask("POST", "/api/station/rows/\(row.id.rawValue)/skip", body: "{}").status == 200)
            func offersUndo(_ path: String, to phone: String) async throws -> Bool {
                try await kiosk.askAsStranger("GET", path, [("Cookie", phone)]).body.contains("id=\"undo-act\"")
            }
            #expect(try await !offersUndo("/scan", to: phones[0]))
            #expect(try await offersUndo("/scan?others=1", to: phones[0]))
            #expect(try await offersUndo("/scan", to: phones[1]))
            #expect(try await kiosk.ask("GET", "/scan").body.contains("id=\"undo-act\""))
        }
    }

    @Test func `that show another code say why it is no book`() async throws {
        try await withPhones { kiosk async throws in
            let phone = try await kiosk.phone()
            var body = ""
            for _ in 0..<3 { body += try await kiosk.frame("4006381333931", from: phone).body }
            #expect(body.contains(#""payload":"4006381333931""#))
            #expect(try await kiosk.library.count(in: [.waiting]) == 0)
        }
    }

    @Test func `are refused if they are damaged, too large, or no JPEG`() async throws {
        try await withPhones { kiosk async throws in
            let phone = try await kiosk.phone()
            let damaged = try await kiosk.frame("damaged", from: phone)
            #expect(damaged.status == 422 && damaged.text("error.code") == "refused")
            #expect(try await kiosk.frame(dune, from: phone, type: "image/png").status == 415)
            #expect(try await kiosk.frame(String(repeating: "x", count: 200_001), from: phone).status == 413)
        }
    }

    @Test func `are for the household alone`() async throws {
        try await withPhones { kiosk async throws in
            #expect(try await kiosk.frame(dune, from: "bookplate=0").status == 401)
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            #expect(try await kiosk.frame(dune, from: "bookplate=0").status == 401)
        }
    }

    private func refusal(_ body: () async throws -> PhoneScan.Reading) async throws -> String? {
        do {
            _ = try await body()
            return nil
        } catch let refusal as RequestRefusal {
            return refusal.apiCode
        }
    }

    @Test func `come ten times a second, and a few more after a pause`() async throws {
        let time = SharedValue(Duration.seconds(100))
        let phones = PhoneCameras(makeScan: textScan, now: { time.value }, processorTime: { .zero })
        func send() async throws -> String? {
            try await refusal { try await phones.read(Array("".utf8), from: .address("1")) }
        }
        for _ in 0..<4 { #expect(try await send() == nil) }
        #expect(try await send() == "tooManyFrames")
        for _ in 0..<10 {
            time.withLock { $0 += .milliseconds(101) }
            #expect(try await send() == nil)
        }
        time.withLock { $0 += .milliseconds(50) }
        #expect(try await send() == "tooManyFrames")
        time.withLock { $0 += .seconds(60) }
        for _ in 0..<4 { #expect(try await send() == nil) }
        #expect(try await send() == "tooManyFrames", "a long pause saves up no more")
    }

    @Test func `that take long to read come less often, so that they cannot occupy the station`() async throws {
        let time = SharedValue(Duration.seconds(100))
        let phones = PhoneCameras(
            makeScan: {
                PhoneScan(
                    decoder: TextDecoder(shown: SharedValue("")),
                    decode: { _, frame in
                        frame = Frame(width: 320, height: 240)
                        time.withLock { $0 += .milliseconds(300) }
                        return true
                    }, thumbnail: { _, _ in nil })
            }, now: { time.value }, processorTime: { time.value })
        let start = time.value
        var read = 0
        for _ in 0..<200 {
            let code = try await refusal { try await phones.read([], from: .address("1")) }
            read += code == nil ? 1 : 0
            time.withLock { $0 += .milliseconds(50) }
        }
        let share = Double(read) * 0.3 / ((time.value - start) / .seconds(1))
        #expect(read > 3 && share < 0.35, "\(share) of the time")
    }

    @Test func `come from two phones at once, and from a third when one has been silent`() async throws {
        let time = SharedValue(Duration.seconds(100))
        let phones = PhoneCameras(makeScan: textScan, now: { time.value }, processorTime: { .zero })
        func send(_ name: String) async throws -> String? {
            try await refusal { try await phones.read([], from: .address(name)) }
        }
        #expect(try await send("1") == nil)
        #expect(try await send("2") == nil)
        #expect(try await send("3") == "tooManyPhones")
        time.withLock { $0 += .seconds(4) }
        #expect(try await send("2") == nil)
        #expect(try await send("3") == "tooManyPhones")
        time.withLock { $0 += .seconds(2) }
        #expect(try await send("3") == nil)
        #expect(try await send("1") == "tooManyPhones")
    }
}

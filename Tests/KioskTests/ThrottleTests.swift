import Bookplate
import FoundationEssentials
import Testing

@testable import Kiosk

@Suite struct `Wrong codes` {
    @Test func `cause pauses from 30 s to 15 min, which survive a restart`() async throws {
        var kiosk = try await WebKiosk()
        try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
        for _ in 0..<5 { #expect(try await kiosk.signIn("wrong one").status == 401) }
        for pause in [30, 60, 120, 240, 480, 900, 900] {
            let right = try await kiosk.signIn()
            #expect(right.status == 429 && right["retry-after"] == String(pause))
            try await kiosk.kiosk.end()
            kiosk = try await WebKiosk(after: kiosk)
            kiosk.clock.advance(by: Double(pause) - 1)
            let early = try await kiosk.signIn()
            #expect(early.status == 429 && early["retry-after"] == "1")
            kiosk.clock.advance(by: 1)
            #expect(try await kiosk.signIn("wrong one").status == 401)
        }
        // Another address has a count of its own, and does not reset this one.
        #expect(try await kiosk.signIn(from: "127.0.0.2").status == 200)
        #expect(try await kiosk.signIn().status == 429)
        kiosk.clock.advance(by: 900)
        #expect(try await kiosk.signIn().status == 200)
        // The right code resets the count of its address.
        for _ in 0..<4 { #expect(try await kiosk.signIn("wrong one").status == 401) }
        #expect(try await kiosk.signIn().status == 200)
        try await kiosk.kiosk.stop()
    }

    @Test func `from many addresses cause a pause for all`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            for address in 2...6 {
                for _ in 0..<4 {
                    #expect(try await kiosk.signIn("wrong one", from: "127.0.0.\(address)").status == 401)
                }
            }
            let right = try await kiosk.signIn(from: "127.0.0.9")
            #expect(right.status == 429 && right["retry-after"] == "30")
            // At this machine no code is needed.
            #expect(try await kiosk.ask("GET", "/api/sign-ins").status == 200)
            kiosk.clock.advance(by: 30)
            #expect(try await kiosk.signIn(from: "127.0.0.9").status == 200)
        }
    }

    @Test func `do not include right ones, even if many arrive at the same moment`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 { group.addTask { try await kiosk.signIn().status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(answers == [Int](repeating: 200, count: 12))
        }
    }

    @Test func `at the same moment are counted before they are checked`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 { group.addTask { try await kiosk.signIn("wrong one").status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(answers.filter { $0 == 401 }.count == 5)
            #expect(answers.filter { $0 == 429 }.count == 7)
        }
    }
}

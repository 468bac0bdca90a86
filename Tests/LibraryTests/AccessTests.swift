import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

@Suite struct `The access code` {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite")) }

    private func signIn(_ code: String = "kumquat 7", _ address: String = "10.0.0.1", after seconds: TimeInterval = 0)
        async throws -> SignInOutcome
    {
        try await library.signIn(
            code: code, from: address, device: "phone", at: noon.addingTimeInterval(seconds))
    }

    private func token() async throws -> String {
        guard case .signedIn(_, let token) = try await signIn() else { throw CancellationError() }
        return token
    }

    @Test func `is stored as a slow hash with its own salt`() async throws {
        #expect(try await library.hasAccessCode() == false)
        var hashes: [String] = []
        for _ in 0..<2 {
            try await library.setAccessCode("kumquat 7", at: noon)
            let hash = try await library.read { try String.fetchOne($0, sql: "SELECT hash FROM accessCode") }
            hashes.append(try #require(hash))
        }
        #expect(hashes[0] != hashes[1])
        // Debian's libcrypt has yescrypt, which needs memory as well as time.
        #expect(hashes.allSatisfy { $0.hasPrefix("$y$") && !$0.contains("kumquat") })
        #expect(try await library.check(code: "kumquat 7", from: "", device: "", at: noon) == .right)
        #expect(try await library.check(code: "kumquat 8", from: "", device: "", at: noon) == .wrong)
        #expect(try await library.check(code: "", from: "", device: "", at: noon) == .wrong)
        let long = String(repeating: "x", count: 100_000)
        #expect(try await library.check(code: long, from: "", device: "", at: noon) == .wrong)
    }

    @Test(arguments: [
        ("", AccessCodeRefusal.tooShort), ("12345", .tooShort), ("123\n456", .control), ("123\u{0}456", .control),
        (String(repeating: "x", count: 257), .tooLong),
    ])
    func `is refused if it is not valid, and the old one stays`(_ code: String, _ refusal: AccessCodeRefusal)
        async throws
    {
        try await library.setAccessCode("kumquat 7", at: noon)
        await #expect(throws: refusal) { try await library.setAccessCode(code, at: noon) }
        #expect(try await library.check(code: "kumquat 7", from: "", device: "", at: noon) == .right)
    }

    @Test func `keeps the latest attempts, right and wrong, but no code and none during a pause`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        _ = try await signIn("kumquat 7", "10.0.0.1")
        _ = try await library.check(code: "zucchini 1", from: "10.0.0.2", device: "attic\u{1B}", at: noon)
        for second in 0..<8 {
            _ = try await library.check(
                code: "zucchini 2", from: "10.0.0.3", device: "", at: noon.addingTimeInterval(Double(second)))
        }
        let attempts = try await library.signInAttempts(limit: 9)
        let guess = SignInAttempt(at: noon, address: "10.0.0.3", device: "", isRight: false)
        // The sixth guess from one address is not checked.
        #expect(attempts.map(\.at) == [4, 3, 2, 1, 0, 0, 0].map { noon.addingTimeInterval($0) })
        #expect(
            attempts.suffix(3) == [
                guess, SignInAttempt(at: noon, address: "10.0.0.2", device: "attic", isRight: false),
                SignInAttempt(at: noon, address: "10.0.0.1", device: "phone", isRight: true),
            ])
        // A new code ends the pause, not the record; another process sees it.
        try await library.setAccessCode("kumquat 8", at: noon)
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        #expect(try await other.signInAttempts(limit: 9) == attempts)
        #expect(try await other.signInAttempts(limit: 1) == [attempts[0]])
        #expect(try bytes(of: folder("library.sqlite-wal")).firstRange(of: Array("zucchini".utf8)) == nil)
    }

    @Test func `keeps the beginning of a name that is far too long, whatever its characters are`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        let long = String(repeating: "👩‍👩‍👧‍👦", count: 80)
        #expect(try await library.check(code: "zucchini 1", from: "10.0.0.1", device: long, at: noon) == .wrong)
        #expect(try await library.signInAttempts(limit: 9).map(\.device.unicodeScalars.count) == [80])
    }

    @Test func `keeps two hundred attempts`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        try await library.write { db in
            for number in 1...250 {
                try db.execute(
                    sql: "INSERT INTO signInAttempt (at, address, device, isRight) VALUES (?, '', '', 0)",
                    arguments: [number])
            }
        }
        _ = try await signIn()
        let attempts = try await library.signInAttempts(limit: 1000)
        #expect(attempts.count == SignInAttempt.kept && attempts[0].isRight)
    }

    @Test func `gives sign-ins whose tokens only their holders know`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        let (one, two) = (try await token(), try await token())
        #expect(one != two && one.utf8.count == 64)
        #expect(try await library.signIn(ofToken: one, at: noon) != nil)
        #expect(try await library.signIn(ofToken: one.uppercased(), at: noon) == nil)
        let file = try Data(contentsOf: URL(fileURLWithPath: folder("library.sqlite-wal")))
        #expect(file.range(of: Data(one.utf8)) == nil && file.range(of: Data("kumquat".utf8)) == nil)
        let list = try await library.signIns(at: noon)
        #expect(list.count == 2 && list.allSatisfy { $0.device == "phone" && $0.created == noon })
        #expect(try await library.endSignIn(list[0].id))
        #expect(try await library.endSignIn(list[0].id) == false)
        #expect(try await library.signIns(at: noon) == [list[1]])
    }

    @Test func `is first set once, even by two at the same moment`() async throws {
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        async let one = library.setFirstAccessCode("kumquat 7", at: noon)
        async let two = other.setFirstAccessCode("kumquat 8", at: noon)
        let isOne = try await one
        #expect(try await two == !isOne)
        #expect(try await signIn(isOne ? "kumquat 8" : "kumquat 7") == .refused(.wrong))
        await #expect(throws: AccessCodeRefusal.tooShort) { try await library.setFirstAccessCode("12345", at: noon) }
    }

    @Test func `is changed with the present one, and with no other`() async throws {
        func change(_ old: String, _ new: String) async throws -> CodeCheck {
            try await library.changeAccessCode(from: old, to: new, from: "10.0.0.1", device: "phone", at: noon)
        }
        #expect(try await change("kumquat 7", "kumquat 8") == .noCode)
        try await library.setAccessCode("kumquat 7", at: noon)
        let session = try await token()
        #expect(try await change("kumquat 6", "kumquat 8") == .wrong)
        #expect(try await library.signIn(ofToken: session, at: noon) != nil)
        await #expect(throws: AccessCodeRefusal.tooShort) { try await change("kumquat 7", "12345") }
        #expect(try await change("kumquat 7", "kumquat 8") == .right)
        #expect(try await library.signIn(ofToken: session, at: noon) == nil)
        #expect(try await signIn() == .refused(.wrong))
    }

    @Test func `and its sign-ins are not restored by undo`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        _ = try await token()
        try await library.setAccessCode(nil, at: noon)
        #expect(try await library.changes(limit: 10).isEmpty)
        #expect(try await library.signIns(at: noon).isEmpty)
        #expect(try await signIn() == .refused(.noCode))
    }

    @Test func `keeps a sign-in until it has not been used for 90 days`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        let token = try await token()
        let day: TimeInterval = 86_400
        let late = noon.addingTimeInterval(89 * day)
        #expect(try await library.signIn(ofToken: token, at: late)?.used == late)
        #expect(try await library.signIn(ofToken: token, at: noon.addingTimeInterval(178 * day)) != nil)
        #expect(try await library.signIns(at: noon.addingTimeInterval(269 * day)).isEmpty)
        #expect(try await library.signIn(ofToken: token, at: noon.addingTimeInterval(269 * day)) == nil)
    }

    @Test func `is counted over two processes if it is wrong, and the count is forgotten after a day`() async throws {
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.setAccessCode("kumquat 7", at: noon)
        for library in [library, other, library, other, library] {
            #expect(try await library.check(code: "wrong one", from: "10.0.0.1", device: "", at: noon) == .wrong)
        }
        #expect(
            try await other.check(code: "kumquat 7", from: "10.0.0.1", device: "", at: noon) == .throttled(seconds: 30))
        #expect(try await signIn("kumquat 7", "10.0.0.1", after: 86_401) != .refused(.wrong))
        let later = noon.addingTimeInterval(86_402)
        #expect(try await library.check(code: "wrong one", from: "10.0.0.1", device: "", at: later) == .wrong)
    }

    @Test func `never causes more than one pause, even if the clock is set back`() async throws {
        try await library.setAccessCode("kumquat 7", at: noon)
        for _ in 0..<5 { _ = try await library.check(code: "wrong one", from: "10.0.0.1", device: "", at: noon) }
        let yesterday = noon.addingTimeInterval(-86_400)
        #expect(try await library.check(code: "kumquat 7", from: "10.0.0.1", device: "", at: yesterday) == .right)
    }

    @Test(arguments: [
        ("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "10.0.0.1"), ("fe80::1%eth0", "fe80:0:0:0::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"), ("", "?"),
    ])
    func `is counted by machine`(_ address: String, _ key: String) {
        #expect(WrongCodes.household.key(of: address) == key)
    }
}

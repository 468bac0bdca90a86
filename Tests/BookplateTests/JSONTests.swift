import FoundationEssentials
import Testing

@testable import Bookplate

@Suite struct JSONTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    private func value(_ key: String, of json: JSONValue) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        return members.first { $0.key == key }?.value
    }

    @Test func `an object about a book names it by copyId, and a missing title is null`() {
        let copy = Copy(added: now)
        let book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: copy)
        let session = SessionRecord(
            session: Session(start: now), reading: ID(), copy: copy.id, title: nil, isbn: nil, pageCount: nil,
            isInTrash: false)
        let all: [JSONValue] = [
            book.json(of: Reading()), session.json(at: now), Annotation(Note(text: "A", created: now), on: book).json,
            Annotation(Quote(text: "A", created: now), on: book).json,
            CountedBook(id: copy.id, title: nil, authors: [], isbn: nil, edition: book.edition.id).json,
        ]
        for json in all {
            #expect(value("copyId", of: json) == .string(copy.id.rawValue))
            #expect(value("title", of: json) == .null)
        }
        #expect(value("id", of: book.json) == .string(copy.id.rawValue))
        #expect(session.displayTitle == "Untitled")
    }

    @Test func `a text is written unchanged, except for quotes, backslashes and control characters`() {
        let text = JSONValue.string("\"a\"\\\n\r\t\u{1}\u{1F}\u{7F}é😀/").text
        #expect(text == ##""\"a\"\\\n\r\t\u0001\u001f\u007fé😀/""##)
        #expect(JSONValue.string("").text == "\"\"")
    }

    @Test(arguments: ["2026-11-21T09:30:00.123Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
    func `an instant is read as it is written`(text: String) throws {
        #expect(try #require(Date(rfc3339: text)).rfc3339 == text)
    }

    @Test(arguments: ["", "2026-11-21", "2026-11-21T24:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T09:30:00.1234567Z"])
    func `a text that is not an instant is refused`(text: String) { #expect(Date(rfc3339: text) == nil) }
}

@Suite struct `A JSON reader` {
    func read(_ text: String) throws(JSONError) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(arguments: [
        (
            #"{"a":[1,2.5,-3e2,true,false,null,"x"]}"#,
            [
                "a": .array([.integer(1), .number(2.5), .number(-300), .bool(true), .bool(false), .null, .string("x")])
            ] as JSONValue
        ),
        (#" "" "#, .string("")), (#""\u00e9\n\"\/\\""#, .string("é\n\"/\\")), (#""\ud83d\udcda""#, .string("📚")),
        (#""\ud83d""#, .string("\u{FFFD}")), (#""\udcda\ud83dx""#, .string("\u{FFFD}\u{FFFD}x")),
        (#""\ud83d\u0041""#, .string("\u{FFFD}A")), (#""\u0000""#, .string("\u{0}")), ("[]", .array([])),
        ("{}", .object([])),
        ("\u{FEFF}{}", .object([])),
    ])
    func `reads JSON, and replaces halves of surrogate pairs`(_ text: String, _ expected: JSONValue) throws {
        #expect(try read(text) == expected)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #""abc"#, #""a\"#, #""\u12"#,
        "tru", "nul",
    ])
    func `reports that a truncated text ends too early`(_ text: String) {
        #expect { try read(text) } throws: { ($0 as? JSONError)?.problem == "the JSON ends too early" }
    }

    @Test(arguments: [
        "{}{}", "[1 2]", "{1:2}", #"{"a" 1}"#, "[,]", "01x", "-", "--1", "trux", #""\x""#, #""\u12G4""#, "<html>",
    ])
    func `refuses text that is not JSON`(_ text: String) { #expect(throws: JSONError.self) { try read(text) } }

    @Test func `refuses text nested beyond the limit, however deep`() throws {
        let limit = JSONValue.depthLimit
        #expect(try read(nested(limit)).items.count == 1)
        for depth in [limit + 1, 500_000] { #expect(throws: JSONError.self) { try read(nested(depth)) } }
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth - 1) + "[0]" + String(repeating: "]", count: depth - 1)
    }

    @Test func `replaces bytes that are not UTF-8`() throws {
        #expect(try JSONValue(parsing: [0x22, 0xFF, 0xC3, 0x22]) == .string("\u{FFFD}\u{FFFD}"))
    }

    @Test func `keeps the order of keys, and writes what it read`() throws {
        let text = #"{"b":1,"a":[true,null,{"z":"é","y":-2.5}],"c":9007199254740993}"#
        #expect(try read(text).text == text)
        #expect(try read(#"{"a":1,"b":2,"a":3}"#)["a"]?.integer == 3)
    }

    @Test func `refuses a number or a text beyond its limit`() {
        #expect(throws: JSONError.self) { try read(String(repeating: "1", count: 65)) }
        #expect(throws: JSONError(problem: "longer than 67108864 bytes", offset: 0)) {
            try JSONValue(parsing: [UInt8](repeating: 0x20, count: JSONValue.sizeLimit + 1))
        }
    }

    @Test(arguments: [("1", 1), ("-0", 0), ("2.0", 2), ("1e3", 1000), ("2.5", nil), ("1e999", nil), ("\"1\"", nil)])
    func `reads whole numbers as integers`(_ text: String, _ expected: Int?) throws {
        #expect(try read(text).integer == expected)
    }

    @Test(arguments: [
        (#"{"a":1,"b":{"c":["}",{"d":"\"]"}]},"e":"x\"y","a2":[2]}"#, #"{"a":1,"a2":[2]}"#),
        (#" {"\u0061" : 1 , "b" : null, "c":-2.5e3 } "#, #"{"a":1}"#), ("{}", "{}"), ("[1]", "[1]"),
    ])
    func `keeps only the members that are wanted, and passes over the others`(_ text: String, _ kept: String) throws {
        let value = Array(text.utf8).withUnsafeBufferPointer { bytes in
            JSONValue.parse(bytes) { $0.first == UInt8(ascii: "a") }
        }
        #expect(try value.get().text == kept)
    }

    @Test(arguments: [
        #"{"b":"#, #"{"b":["#, #"{"b":"x"#, #"{"b":}"#, #"{"b":,"a":1}"#, #"{"b" 1}"#, #"{"b":1"#, #"{"b":1}x"#,
        #"{"b":"\"}"#, "{\"b\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
    ])
    func `notices an object that is cut off within a member that is not wanted`(_ text: String) {
        let value = Array(text.utf8).withUnsafeBufferPointer { JSONValue.parse($0) { _ in false } }
        #expect(throws: JSONError.self) { try value.get() }
    }

    @Test func `gives nothing for members of another type`() throws {
        let value = try read(#"{"text": "a", "list": [1]}"#)
        #expect(value["text"]?.string == "a" && value["list"]?.items.count == 1 && value.members.count == 2)
        #expect(value["none"] == nil && value["list"]?.string == nil && value["text"]?.items.isEmpty == true)
        #expect(value["text"]?["x"] == nil && value["text"]?.integer == nil)
    }
}

import Bookplate
import FoundationEssentials
import Testing

@Suite struct JSONTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    private func value(_ key: String, of json: JSONValue) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        return members.first { $0.key == key }?.value
    }

    @Test func `what points at a book names it by copyId, and a title that is missing is null`() {
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

    @Test func `a text is written as it is, but for quotes, backslashes and control characters`() {
        let text = JSONValue.string("\"a\"\\\n\r\t\u{1}\u{1F}\u{7F}é😀/").text
        #expect(text == ##""\"a\"\\\n\r\t\u0001\u001f\u007fé😀/""##)
        #expect(JSONValue.string("").text == "\"\"")
    }

    @Test(arguments: ["2026-11-21T09:30:00.123Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
    func `an instant is read as it is written`(text: String) throws {
        #expect(try #require(Date(rfc3339: text)).rfc3339 == text)
    }

    @Test(arguments: ["", "2026-11-21", "2026-11-21T24:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T09:30:00.1234567Z"])
    func `what is no instant is refused`(text: String) { #expect(Date(rfc3339: text) == nil) }
}

import Bookplate
import Hummingbird

/// Checks ISBNs while the user types, and responds with what is known about them.
struct ISBNAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [Route(.get, "/api/isbn", for: .guests, check), Route(.get, "/api/known", for: .household, known)]
    }

    /// Responds with `{"isbn13", "hyphenated", "error"}`. If the number is incomplete, `hyphenated` has only those
    /// hyphens whose place does not depend on the missing digits.
    private func check(_ request: Request, _ context: KioskContext) throws -> JSONResponse {
        guard let text = request.uri.queryParameters["text"], text.utf8.count <= 100 else {
            throw RequestRefusal(.badNumber, "The query must contain the number as text=, with at most 100 bytes.")
        }
        do throws(ISBNRefusal) {
            let isbn = try BookNumber(String(text)).isbn
            let isShort = text.count { $0.isNumber || $0 == "X" || $0 == "x" } == 10
            return JSONResponse([
                "isbn13": .string(isbn.digits),
                "hyphenated": .string(isShort ? Self.hyphenated(String(text)) ?? isbn.hyphenated : isbn.hyphenated),
                "error": .null,
            ])
        } catch {
            return JSONResponse([
                "isbn13": .null, "hyphenated": JSONValue(Self.hyphenated(String(text))),
                "error": JSONValue(parts.pages.texts(context).message(for: error)),
            ])
        }
    }

    /// Responds with the library's data about the ISBN in `?isbn=`, or with the queue's data if the library has none.
    /// No online source is queried.
    private func known(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let text = try request.queryValue("isbn") ?? ""
        return JSONResponse(try await KnownISBN(text, in: context.library, parts.pages.texts(context)).json)
    }

    /// Inserts only those hyphens whose place does not depend on the digits still to come. These are the hyphens that
    /// are in the same place when the number is filled up with zeros and when it is filled up with nines.
    ///
    /// - Parameter text: up to thirteen digits, or up to ten characters that may end with X. Hyphens and spaces are
    ///   ignored.
    /// - Returns: `nil` if the text is not the beginning of an ISBN.
    static func hyphenated(_ text: String) -> String? {
        let typed = text.uppercased().filter { $0.isASCII && ($0.isNumber || $0 == "X") }
        let isLong = typed.hasPrefix("978") || typed.hasPrefix("979")
        // A complete ISBN-10 may begin with 978 too.
        let isShort = !isLong || (typed.count == 10 && (try? ISBN(typed)) != nil)
        let body = isShort ? "978" + typed.prefix(9) : String(typed.prefix(12))
        guard typed.count <= (isShort ? 10 : 13), body.count >= 3, !body.contains("X"),
            let low = filled(body, with: "0"), let high = filled(body, with: "9")
        else { return nil }
        func hyphens(in number: String) -> Set<Int> {
            var (positions, digits): (Set<Int>, Int) = ([], 0)
            for character in number {
                if character == "-" { positions.insert(digits) } else { digits += 1 }
            }
            return positions
        }
        let certain = hyphens(in: low.hyphenated).intersection(hyphens(in: high.hyphenated))
        let offset = isShort ? 3 : 0
        var result = ""
        for (index, character) in typed.enumerated() {
            if index > 0, certain.contains(index + offset) { result += "-" }
            result.append(character)
        }
        return result
    }

    /// Fills up a number to twelve digits by repeating one digit, adds the check digit, and returns the result as an
    /// ISBN.
    private static func filled(_ body: some StringProtocol, with digit: Character) -> ISBN? {
        let twelve = body + String(repeating: digit, count: 12 - body.count)
        for check in 0...9 {
            do { return try ISBN(ean13: twelve + String(check)) } catch { continue }
        }
        return nil
    }
}

/// A typed number, and what the library and the queue know about it.
struct KnownISBN: Sendable {
    let isbn: ISBN?
    /// The reason why the text is not an ISBN; `nil` if it is an ISBN, or if nothing was typed.
    let refusal: String?
    private(set) var metadata: Metadata?
    /// An owned copy of the book; `nil` if there is none.
    private(set) var owned: Book?
    /// The title of the book if all its copies are in the trash. Saving the book then restores a copy.
    private(set) var trashed: String?

    /// The members of a book's JSON that describe its edition.
    private static let editionKeys: Set = [
        "title", "subtitle", "authors", "publisher", "publishedDate", "publishedDateText", "pageCount", "language",
        "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "subjects",
        "previewLink", "infoLink",
    ]

    init(_ text: String, in library: any KioskLibrary, _ texts: Texts) async throws {
        let text = String(text.prefix(64))
        do throws(ISBNRefusal) {
            (isbn, refusal) = (try BookNumber(text).isbn, nil)
        } catch {
            (isbn, refusal) = (nil, text.cleanedLine.isEmpty ? nil : texts.message(for: error))
        }
        guard let isbn else { return }
        let books = try await library.books(with: [isbn])[isbn] ?? []
        owned = books.first { $0.copy.isOwned && $0.copy.deleted == nil }
        metadata = books.first?.edition.metadata
        if books.allSatisfy({ $0.copy.deleted != nil }) { trashed = books.last?.displayTitle }
        if metadata == nil {
            metadata = try await library.items(in: [.waiting]).last { $0.isbn == isbn && $0.metadata != nil }?.metadata
        }
    }

    var json: JSONValue {
        let metadata = metadata.map { metadata in
            let book = Book(edition: Edition(isbn: isbn, metadata: metadata), copy: Copy(added: .distantPast))
            guard case .object(let members) = book.json else { return JSONValue.null }
            return .object(members.filter { Self.editionKeys.contains($0.key) })
        }
        return [
            "isbn13": JSONValue(isbn?.digits), "hyphenated": JSONValue(isbn?.hyphenated),
            "refusal": JSONValue(refusal), "metadata": metadata ?? .null,
            "owned": owned.map { ["id": .string($0.id.rawValue), "title": .string($0.displayTitle)] } ?? .null,
            "trashed": JSONValue(trashed),
        ]
    }
}

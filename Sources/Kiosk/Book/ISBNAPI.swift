import Bookplate
import Hummingbird

/// What a number is while it is being typed: for the keypad.
struct ScanNumbers: Sendable {
    let pages: Pages

    var routes: [Route] { [Route(.get, "/api/isbn", for: .guests, answer)] }

    /// `{"isbn13","hyphenated","error"}`: the number with the hyphens that are sure so far, also of one that is not whole yet.
    private func answer(_ request: Request, _ context: KioskContext) throws -> JSONAnswer {
        guard let text = request.uri.queryParameters["text"], text.utf8.count <= 100 else {
            throw RequestRefusal(
                status: .badRequest, code: "badNumber", message: "text is the number, 100 bytes at most.")
        }
        do throws(ISBNRefusal) {
            let isbn = try ISBN(String(text))
            let isShort = text.count { $0.isNumber || $0 == "X" || $0 == "x" } == 10
            return JSONAnswer([
                "isbn13": .string(isbn.digits),
                "hyphenated": .string(isShort ? Self.hyphenated(String(text)) ?? isbn.hyphenated : isbn.hyphenated),
                "error": .null,
            ])
        } catch {
            return JSONAnswer([
                "isbn13": .null, "hyphenated": JSONValue(Self.hyphenated(String(text))),
                "error": JSONValue(pages.texts(context).words(for: error)),
            ])
        }
    }

    /// A hyphen stands where it would whatever digits follow: that is where the number filled up with zeros and the one filled up
    /// with nines agree.
    ///
    /// - Parameter text: up to thirteen digits, or ten of which the last may be X; hyphens and spaces do not matter.
    /// - Returns: `nil` where it is no beginning of an ISBN.
    static func hyphenated(_ text: String) -> String? {
        let typed = text.uppercased().filter { $0.isASCII && ($0.isNumber || $0 == "X") }
        let isLong = typed.hasPrefix("978") || typed.hasPrefix("979")
        // A whole ISBN-10 may begin with 978, too.
        let isShort = !isLong || (typed.count == 10 && (try? ISBN(typed)) != nil)
        let body = isShort ? "978" + typed.prefix(9) : String(typed.prefix(12))
        guard typed.count <= (isShort ? 10 : 13), body.count >= 3, !body.contains("X"),
            let low = filled(body, with: "0"), let high = filled(body, with: "9")
        else { return nil }
        func places(of number: String) -> Set<Int> {
            var (places, digits): (Set<Int>, Int) = ([], 0)
            for character in number {
                if character == "-" { places.insert(digits) } else { digits += 1 }
            }
            return places
        }
        let sure = places(of: low.hyphenated).intersection(places(of: high.hyphenated))
        let offset = isShort ? 3 : 0
        var result = ""
        for (index, character) in typed.enumerated() {
            if index > 0, sure.contains(index + offset) { result += "-" }
            result.append(character)
        }
        return result
    }

    /// The number of thirteen digits that begins so.
    private static func filled(_ body: some StringProtocol, with digit: Character) -> ISBN? {
        let twelve = body + String(repeating: digit, count: 12 - body.count)
        for check in 0...9 {
            do { return try ISBN(ean13: twelve + String(check)) } catch { continue }
        }
        return nil
    }
}

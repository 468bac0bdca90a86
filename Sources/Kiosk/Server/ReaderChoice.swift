import Bookplate
import Hummingbird

/// Finds out for which reader a request is, and gives the request the library of that reader.
///
/// A request names its reader with `?reader=` (a name or an id) or with ``header``. In this header, a page's script
/// sends the reader whom the page shows, so that a page that is still open acts for that reader even if another reader
/// was chosen since. A request that names nobody is for the reader whom the browser remembers in a cookie, or else for
/// the first reader.
struct ReaderChoice: Sendable {
    let ports: KioskPorts

    static let header = HTTPFields.Element.Name("Bookplate-Reader")!
    /// The name of the cookie with the id of the reader who was chosen last in this browser.
    static let cookie = "bookplate-reader"
    /// The name of the cookie with the token under which readers are unlocked in this browser.
    static let unlockCookie = "bookplate-unlock"

    /// Sets the reader of a request whose caller is known.
    ///
    /// - Throws: ``ReaderRefusal`` if the request names a reader who does not exist.
    func choose(for context: inout KioskContext, _ request: Request) async throws {
        context.holder = Self.holder(of: request, context)
        (context.readers, context.reader, context.library) = try await ports.library.readers(
            holder: context.holder, isGuest: context.isGuest, at: ports.now()
        ) { try named(request, $0) }
    }

    private func named(_ request: Request, _ readers: [Reader]) throws -> Reader? {
        if let name = try request.queryValue("reader"), !name.isEmpty {
            guard let reader = readers.first(where: { $0.isCalled(name) }) else {
                throw ReaderRefusal.unknown(name: name, known: readers.compactMap(\.name))
            }
            return reader
        }
        if let id = request.headers[Self.header] {
            guard let reader = readers.first(where: { $0.id.rawValue == id }) else { throw ReaderRefusal.noSuchReader }
            return reader
        }
        guard let cookie = request.cookies[Self.cookie] else { return nil }
        let reader = readers.first { $0.id.rawValue == cookie.value }
        // A reader whom the browser remembers may have been deleted since. Pages then show the first reader, but
        // nothing is written for a reader whom nobody chose.
        if reader == nil, readers.count > 1, !request.isSafe, !request.uri.path.hasSuffix("/choose") {
            throw ReaderRefusal.noSuchReader
        }
        return reader
    }

    /// Returns the name under which readers are unlocked for a request: the browser's token, together with its sign-in,
    /// so that signing out locks them again.
    private static func holder(of request: Request, _ context: KioskContext) -> String? {
        token(of: request).map { holder(of: $0, context) }
    }

    /// Returns the token under which readers are unlocked in the browser; `nil` if it has none.
    static func token(of request: Request) -> String? {
        request.cookies[unlockCookie].flatMap { $0.value.utf8.count == 64 ? $0.value : nil }
    }

    /// Returns a new token: 256 random bits in hexadecimal.
    static func newToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func holder(of token: String, _ context: KioskContext) -> String {
        "browser \(context.signIn?.rawValue ?? "here") \(token)"
    }
}

extension Reader {
    /// True if the text is the reader's name, in which case does not matter, or the reader's id.
    func isCalled(_ text: String) -> Bool {
        id.rawValue == text || isNamed(text)
    }
}

// The pages of statistics show one reader, or everybody.
extension KioskContext {
    /// Returns the library for a page of statistics: that of the request's reader, or of all readers together with
    /// `?readers=all`.
    func library(forStatsOf request: Request) throws -> any KioskLibrary {
        guard let readers = try request.queryValue("readers"), !readers.isEmpty else { return library }
        guard readers == "all" else { throw RequestRefusal(.badQuery, "\"readers\" must be \"all\".") }
        return library.ofEverybody()
    }

    /// Returns the two choices of a page of statistics: the reader, and everybody; empty if there is one reader. The
    /// links keep the other parameters of the address.
    func everybodyView(_ request: Request, _ texts: Texts) throws -> View {
        guard readers.count > 1, let reader else { return [:] }
        let pairs = try request.queryPairs()
        let isAll = pairs.contains { $0.name == "readers" && !$0.value.isEmpty }
        let rest = pairs.filter { $0.name != "readers" }
        func address(_ pairs: [(name: String, value: String)]) -> String {
            "?"
                + pairs.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }
                .joined(separator: "&")
        }
        let choices: [View] = [
            ["label": texts.name(of: reader), "address": address(rest), "isCurrent": !isAll],
            ["label": texts("readers.everybody"), "address": address(rest + [("readers", "all")]), "isCurrent": isAll],
        ]
        return [
            "everybody": ["choices": choices] as View, "isOfEverybody": isAll,
            "readersQuery": isAll ? "&readers=all" : "",
        ]
    }
}

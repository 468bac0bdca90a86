/// The number of a book as it is captured: the ISBN, and the digits of the add-on beside it.
public struct BookNumber: Hashable, Sendable {
    public let isbn: ISBN
    /// The two or five digits of the add-on (EAN-2 or EAN-5); `nil` if there was none.
    public let addon: String?

    /// Parses a number that a person typed, or that a handheld scanner read from a bar code or a QR code. Beside every
    /// form that ``ISBN/init(_:)`` parses, it may be:
    ///
    /// - an EAN-13 with its add-on, as scanners send it if add-ons are switched on; the two may be joined or separated,
    ///   and each may have its AIM prefix;
    /// - a URN such as `urn:isbn:9780441478125` (RFC 8254);
    /// - a web address that names exactly one number: in its path after `isbn`, as in
    ///   `https://example.org/isbn/9780441478125`, in its query (`?isbn=9780441478125`), or as a GS1 Digital Link
    ///   (`https://id.gs1.org/01/09780441478125`; GS1 Digital Link Standard, URI syntax).
    ///
    /// - Throws: ``ISBNRefusal``, which says which digit is wrong or which rule is broken.
    public init(_ text: String) throws(ISBNRefusal) {
        let number = Self.number(inAddress: text) ?? text
        do throws(ISBNRefusal) {
            (isbn, addon) = (try ISBN(number), nil)
        } catch {
            // If the part before the add-on is no ISBN either, the reason for the whole number is the clearer one.
            guard let (isbn, addon) = Self.withAddon(number) else { throw error }
            (self.isbn, self.addon) = (isbn, addon)
        }
    }

    /// - Returns: `nil` if the text is not an ISBN, as an EAN-13, with its add-on.
    private static func withAddon(_ text: String) -> (ISBN, String)? {
        do throws(ISBNRefusal) {
            // ISO/IEC 15424: "]E1" and "]E2" are the prefixes of add-ons that are sent as symbols of their own.
            let characters = try normalized(String(text.prefix(1) + text.dropFirst().replacing(/\]E[12]/, with: "")))
            guard characters.count == 15 || characters.count == 18, digitValues(characters) != nil else { return nil }
            let digits = String(decoding: characters, as: UTF8.self)
            return (try ISBN(ean13: String(digits.prefix(13))), String(digits.dropFirst(13)))
        } catch {
            return nil
        }
    }

    /// Returns the number in a URN or a web address.
    ///
    /// - Returns: `nil` if the text is neither, or if it does not name exactly one number.
    private static func number(inAddress text: String) -> String? {
        let text = text.prefix(mostCharacters).drop(while: \.isWhitespace)
        let name = "urn:isbn:"
        if text.prefix(name.count).lowercased() == name { return String(text.dropFirst(name.count)) }
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let address = text[scheme.upperBound...].prefix { $0 != "#" && !$0.isWhitespace }
        let path = address.prefix { $0 != "?" }
        let segments = path.split(separator: "/").dropFirst()
        var numbers: Set<Substring> = []
        for (key, value) in zip(segments, segments.dropFirst()) {
            if key.lowercased() == "isbn" { numbers.insert(value) }
            // The application identifier 01 is followed by a GTIN of 14 digits, which an EAN-13 fills up with a 0.
            if key == "01", value.count == 14, value.first == "0" { numbers.insert(value.dropFirst()) }
        }
        for parameter in address.dropFirst(path.count + 1).split(separator: "&") {
            if parameter.prefix(5).lowercased() == "isbn=" { numbers.insert(parameter.dropFirst(5)) }
        }
        return numbers.count == 1 ? numbers.first.map(String.init) : nil
    }

    /// The maximum length of an address, in characters. The rest of a longer text is not searched.
    private static let mostCharacters = 4096
}

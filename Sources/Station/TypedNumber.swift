import Bookplate

/// A number as a person typed it or a handheld scanner sent it.
public struct TypedNumber: Sendable, Equatable {
    public let text: String
    public let origin: Origin

    public init(text: String, origin: Origin) {
        self.text = text
        self.origin = origin
    }

    /// The book that it names, with the digits of an add-on where they follow.
    ///
    /// - Throws: ``ISBNRefusal`` when it names none.
    public func detection() throws(ISBNRefusal) -> Detection {
        do throws(ISBNRefusal) {
            return Detection(isbn: try ISBN(text), raw: text, origin: origin)
        } catch {
            guard let (isbn, addon) = ISBN.withAddon(text) else { throw error }
            return Detection(isbn: isbn, raw: text, addon: addon, origin: origin)
        }
    }

    /// True if it names a book.
    public var isBook: Bool {
        do throws(ISBNRefusal) {
            _ = try detection()
            return true
        } catch {
            return false
        }
    }
}

import Bookplate

/// A number that a person typed or a handheld scanner sent.
public struct TypedNumber: Sendable, Equatable {
    public let text: String
    public let origin: Origin

    public init(text: String, origin: Origin) {
        self.text = text
        self.origin = origin
    }

    /// Returns the detection of the book with this ISBN. It includes the digits of an add-on if they follow the ISBN.
    ///
    /// - Throws: ``ISBNRefusal`` if the text is not an ISBN.
    public func detection() throws(ISBNRefusal) -> Detection {
        do throws(ISBNRefusal) {
            return Detection(isbn: try ISBN(text), raw: text, origin: origin)
        } catch {
            guard let (isbn, addon) = ISBN.withAddon(text) else { throw error }
            return Detection(isbn: isbn, raw: text, addon: addon, origin: origin)
        }
    }

    /// True if the text is an ISBN.
    public var isBook: Bool {
        do throws(ISBNRefusal) {
            _ = try detection()
            return true
        } catch {
            return false
        }
    }
}

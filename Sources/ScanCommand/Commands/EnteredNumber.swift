import Bookplate

/// A number as a person typed it into a form: one that is no ISBN stays as text, so that nothing is lost.
struct EnteredNumber: Sendable {
    /// `nil` when it is wrong.
    let isbn: ISBN?
    let text: String
    /// Why it is wrong.
    let refusal: ISBNRefusal?

    /// - Throws: ``TextRefusal`` for a text that is empty, damaged or too long.
    init(_ entered: String) throws(TextRefusal) {
        text = try entered.checked(as: "ISBN", limit: TextLimit.name)
        do throws(ISBNRefusal) {
            (isbn, refusal) = (try ISBN(text), nil)
        } catch {
            (isbn, refusal) = (nil, error)
        }
    }

    /// Says what is wrong with it; nothing when nothing is.
    static func warn(_ number: EnteredNumber?) {
        guard let number, let refusal = number.refusal else { return }
        Output.shared.complain("\"\(number.text.prefix(80).printable)\" is no ISBN: \(refusal). It is kept as text.")
    }
}

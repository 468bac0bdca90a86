/// A number as a person typed it into a form: one that is no ISBN stays as text, so that nothing is lost.
public struct EnteredNumber: Sendable, Equatable {
    /// `nil` when it is wrong.
    public let isbn: ISBN?
    public let text: String
    /// Why it is wrong.
    public let refusal: ISBNRefusal?

    /// - Throws: ``TextRefusal`` for a text that is empty, damaged or too long.
    public init(_ entered: String) throws(TextRefusal) {
        text = try entered.checked(as: "ISBN", limit: TextLimit.name)
        do throws(ISBNRefusal) {
            (isbn, refusal) = (try ISBN(text), nil)
        } catch {
            (isbn, refusal) = (nil, error)
        }
    }
}

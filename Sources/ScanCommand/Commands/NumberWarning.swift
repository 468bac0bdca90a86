import Bookplate

extension EnteredNumber {
    /// Says what is wrong with it; nothing when nothing is.
    static func warn(_ number: EnteredNumber?) {
        guard let number, let refusal = number.refusal else { return }
        Output.shared.complain("\"\(number.text.prefix(80).printable)\" is no ISBN: \(refusal). It is kept as text.")
    }
}

import Synchronization

/// Something that happened.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
    /// - Returns: whether it had not happened before.
    func setFirst() -> Bool { !value.exchange(true, ordering: .relaxed) }
}

/// Tells that the library has changed, whichever process of the machine changed it.
public protocol LibraryWatch: Sendable {
    /// A number that grows, the first when the watch begins, then one for every time that changes were noticed, within half a second of
    /// the commit; the stream never holds more than the newest.
    ///
    /// - Parameter trouble: called when the library cannot be looked at, once until it can be again; it is tried again for as long
    ///   as somebody listens.
    func changes(trouble: @escaping @Sendable (any Error) -> Void) -> AsyncStream<Int>
}

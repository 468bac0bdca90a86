import Synchronization

/// A value that several tasks read and change.
public final class SharedValue<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    public init(_ value: sending Value) { mutex = Mutex(value) }

    public var value: Value { mutex.withLock { $0 } }

    public func withLock(_ change: (inout Value) -> Void) { mutex.withLock { change(&$0) } }

    /// Replaces the value.
    ///
    /// - Returns: the value before.
    public func exchange(_ new: Value) -> Value {
        mutex.withLock { value in
            defer { value = new }
            return value
        }
    }
}

import Synchronization

/// A value that several tasks read and change.
public final class SharedValue<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    public init(_ value: sending Value) { mutex = Mutex(value) }

    public var value: Value { mutex.withLock { $0 } }

    @discardableResult public func withLock<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        mutex.withLock { change(&$0) }
    }

    /// Replaces the value.
    ///
    /// - Returns: the previous value.
    public func exchange(_ new: Value) -> Value {
        mutex.withLock { value in
            defer { value = new }
            return value
        }
    }
}

import Bookplate
import Synchronization

/// Where the loop's wishes go: each is taken up by a task of its own.
struct LiveOutlets: Sendable {
    let detections: AsyncStream<[Detection]>.Continuation
    let lookups: AsyncStream<LookupRequest>.Continuation
    let acts: AsyncStream<LiveAct>.Continuation
    let sounds: Sounds
    /// For what is captured from now on.
    let preset: SharedValue<Preset>
    /// The person leaves: what cannot be captured now is given up.
    let isClosing = SharedValue(false)

    /// Nothing more comes in.
    func close() {
        isClosing.withLock { $0 = true }
        detections.finish()
    }
}

/// A value that several tasks use.
final class SharedValue<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: sending Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func withLock(_ change: (inout Value) -> Void) { mutex.withLock { change(&$0) } }

    /// Puts a new value in, and gives the old one.
    func exchange(_ new: Value) -> Value {
        mutex.withLock { value in
            defer { value = new }
            return value
        }
    }
}

import Bookplate
import Synchronization

/// What was seen and is not on the disk yet, oldest first: from the moment it is put in until it is captured, or given up with a word.
final class Seen: Sendable {
    private let sightings = Mutex<[Sighting]>([])
    /// Signals that there is something new, to the one that captures.
    let news = Inlet<Void>(newest: 1)

    var all: [Sighting] { sightings.withLock { $0 } }
    var oldest: Sighting? { sightings.withLock(\.first) }

    /// From any thread; never waits.
    func put(_ sighting: Sighting) {
        sightings.withLock { $0.append(sighting) }
        news.put(())
    }

    /// The oldest so many need nothing more. Only the one that captures calls it.
    func remove(oldest count: Int) { sightings.withLock { $0.removeFirst(min(count, $0.count)) } }
}

/// A stream that one task takes from, and anybody puts into.
struct Inlet<Element: Sendable>: Sendable {
    let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    /// - Parameter newest: how many are kept at the most; `nil` keeps all.
    init(newest: Int? = nil) {
        (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: newest.map { .bufferingNewest($0) } ?? .unbounded)
    }

    func put(_ element: Element) { continuation.yield(element) }
}

/// What a work comes to that is never given up half way. Who waits is let go when its own task is cancelled: the work goes on, and
/// holds up nobody who wants to end.
func outcome<Value: Sendable>(of work: Task<Value, any Error>) async throws -> Value {
    let (values, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    Task {
        do {
            continuation.yield(try await work.value)
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
    for try await value in values { return value }
    throw CancellationError()
}

/// Passes a sequence's elements to `body` in bursts. Each burst has all the elements that arrived while `body`
/// processed the previous burst, up to a limit. A slow body therefore gets few large bursts, and a slow sequence is
/// passed on one element at a time.
///
/// - Throws: an error of the sequence or of `body`; the sequence is then cancelled.
public func forEachBurst<Elements: AsyncSequence & Sendable>(
    of elements: Elements, upTo limit: Int = 64, _ body: ([Elements.Element]) async throws -> Void
) async throws where Elements.Element: Sendable {
    let queue = BurstQueue<Elements.Element>()
    try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask {
            do {
                for try await element in elements { await queue.append(element) }
                await queue.finish(nil)
            } catch {
                await queue.finish(error)
            }
        }
        while let burst = try await queue.next(upTo: limit) { try await body(burst) }
    }
}

/// The elements that have arrived, but have not been passed on yet.
private actor BurstQueue<Element: Sendable> {
    private var elements: [Element] = []
    private var isFinished = false
    private var failure: (any Error)?
    private var waiter: CheckedContinuation<Void, Never>?

    func append(_ element: Element) {
        elements.append(element)
        wake()
    }

    func finish(_ failure: (any Error)?) {
        isFinished = true
        self.failure = failure
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// - Returns: nil when all elements have been passed on and no more will arrive.
    func next(upTo limit: Int) async throws -> [Element]? {
        if elements.isEmpty, !isFinished {
            await withCheckedContinuation { waiter = $0 }
            // Wait until other elements that are ready have arrived too, so that they belong to the same burst.
            await Task.yield()
        }
        guard !elements.isEmpty else {
            if let failure { throw failure }
            return nil
        }
        defer { elements.removeFirst(min(limit, elements.count)) }
        return Array(elements.prefix(limit))
    }
}

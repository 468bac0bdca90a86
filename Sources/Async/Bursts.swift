/// Hands on a sequence's elements in bursts: the first that comes, and every further one that is there by the time the body is
/// done, up to a limit. A slow body gets few large bursts; a slow sequence comes through one by one.
///
/// - Throws: what the sequence or `body` throws; the sequence is cancelled then.
public func forEachBurst<Elements: AsyncSequence & Sendable>(
    of elements: Elements, upTo limit: Int = 64, _ body: ([Elements.Element]) async throws -> Void
) async throws where Elements.Element: Sendable {
    let pile = Pile<Elements.Element>()
    try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask {
            do {
                for try await element in elements { await pile.add(element) }
                await pile.finish(nil)
            } catch {
                await pile.finish(error)
            }
        }
        while let burst = try await pile.take(upTo: limit) { try await body(burst) }
    }
}

/// What has come and is not taken yet.
private actor Pile<Element: Sendable> {
    private var elements: [Element] = []
    private var isFinished = false
    private var failure: (any Error)?
    private var waiter: CheckedContinuation<Void, Never>?

    func add(_ element: Element) {
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

    /// - Returns: `nil` when everything was taken and no more will come.
    func take(upTo limit: Int) async throws -> [Element]? {
        if elements.isEmpty, !isFinished {
            await withCheckedContinuation { waiter = $0 }
            // Let what is ready as well come in before it is counted.
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

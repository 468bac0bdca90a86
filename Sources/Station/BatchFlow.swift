import Bookplate

/// What a batch needs of the workflow besides capturing, looking up and saving.
extension CaptureFlow {
    /// What the library says of items at once, before any source is asked.
    public func recognise(_ items: [IntakeItem]) async throws -> [Candidate] {
        let known = try await shelf.books(with: items.map(\.isbn).uniqued())
        return items.map { Candidate(item: $0, existing: known[$0.isbn] ?? []) }
    }

    /// Finds out what items are that were captured just now; see ``candidates(following:areCaptured:)``.
    public func candidates(
        _ captured: [IntakeItem], areCaptured: Bool = true
    ) -> AsyncThrowingStream<Candidate, any Error> {
        let (items, continuation) = AsyncStream.makeStream(of: IntakeItem.self)
        for item in captured { continuation.yield(item) }
        continuation.finish()
        return candidates(following: items, areCaptured: areCaptured)
    }

    /// Asks the sources once more, due or not, and passes over library and answer cache.
    public func refresh(_ ids: [ID<IntakeItem>]) -> AsyncThrowingStream<Candidate, any Error> {
        candidateStream { yield in
            try await ask(
                intake.lease(ids, limit: ids.count, for: Self.lease, at: now()), refresh: true, yield)
        }
    }

    /// Gives waiting items another preset, in one durable commit. Those that left the queue meanwhile are passed over.
    ///
    /// - Returns: the candidates as they are now.
    public func give(_ preset: Preset, to ids: [ID<IntakeItem>]) async throws -> [Candidate] {
        try await intake.give(preset, to: ids)
        let given = Set(ids)
        return try await recognise(intake.items(in: [.waiting]).filter { given.contains($0.id) })
    }

    /// Owned books leave the queue: nothing is left to do for them.
    public func close(_ ids: [ID<IntakeItem>]) async throws {
        if !ids.isEmpty { try await intake.close(ids) }
    }

    /// How many items wait in the queue, whoever captured them.
    public func waitingCount() async throws -> Int { try await intake.count(in: [.waiting]) }
}

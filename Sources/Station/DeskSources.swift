import Bookplate

// What is asked of the sources: metadata for what came in, covers for what was saved.
extension Desk {
    /// Asks them for what came in. What goes wrong is told, and does not end the asking: the items wait in the queue.
    nonisolated func answer() async {
        do {
            try await forEachBurst(of: lookups.stream) { burst in
                var (captured, waiting, again): ([IntakeItem], [IntakeItem], [ID<IntakeItem>]) = ([], [], [])
                for request in burst {
                    switch request {
                    case .captured(let items): captured += items
                    case .waiting(let items): waiting += items
                    case .again(let ids): again += ids
                    }
                }
                if !captured.isEmpty { await follow(flow.candidates(captured), captured.map(\.id)) }
                if !waiting.isEmpty {
                    await follow(flow.candidates(waiting, areCaptured: false), waiting.map(\.id))
                }
                if !again.isEmpty { await follow(flow.refresh(again), again) }
            }
        } catch {
            if !Task.isCancelled { report("the sources are not asked any more: \(error)") }
        }
    }

    /// What waits in the queue for a source is asked for when it is due, from the start on.
    func goRound() async {
        repeat {
            if !isOffline { await follow(flow.refreshQueue(), []) }
            looks.put(())
        } while await pause(Self.roundsOfQueue)
    }

    private func follow(
        _ candidates: AsyncThrowingStream<Candidate, any Error>, _ asked: [ID<IntakeItem>]
    ) async {
        var asked = Set(asked)
        do {
            for try await candidate in candidates {
                // Another process is just asking for it: what it finds out is seen in the library, and what it leaves open is taken
                // up by the next round.
                if candidate.item.outcome == nil, !isOffline, asked.remove(candidate.item.id) != nil { continue }
                if batch.take(candidate), let row = row(candidate.item.id) { tell(.known(row)) }
                batchChanged()
            }
        } catch {
            if !Task.isCancelled { report("asking the sources failed, the books wait in the queue: \(error)") }
        }
        guard !asked.isEmpty else { return }
        batch.stopLookingUp(Array(asked))
        batchChanged()
    }

    /// Covers of what was saved, and with every round those that could not be had before.
    func fetchCovers() async {
        guard let covers, !isOffline else { return }
        saves.put(())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { while await self.pause(Self.roundsOfQueue) { self.saves.put(()) } }
            group.addTask { [saves] in
                for await _ in saves.stream {
                    do {
                        _ = try await covers.fetchMissing(limit: Self.mostCovers, patience: Self.roundsOfQueue)
                    } catch {
                        if !Task.isCancelled { self.report("covers are fetched later: \(error)") }
                    }
                }
            }
        }
    }
}

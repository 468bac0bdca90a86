import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: AnswerCache {
    /// Seven days.
    private static let notFoundKept: Int64 = 7 * 86_400_000

    public func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer] {
        guard !isbns.isEmpty else { return [:] }
        return try await read { db in
            // An answer from the future is from before the clock was set back: its age is unknown.
            let rows = try db.rows(
                """
                SELECT isbn, content FROM answer
                WHERE isbn IN (SELECT value FROM json_each(?1)) AND (outcome = 'found' OR at BETWEEN ?2 - ?3 AND ?2)
                """, [list(isbns.map(\.digits)), now.milliseconds, Self.notFoundKept])
            var answers: [ISBN: LookupAnswer] = [:]
            for row in rows {
                guard let isbn = try StoredBooks.isbn(row) else { continue }
                answers[isbn] = try decoded(StoredAnswer.self, row["content"]).answer(for: isbn)
            }
            return answers
        }
    }

    public func keep(_ answers: [LookupAnswer], at now: Date) async throws {
        // What came from the cache keeps its age.
        let kept = answers.filter { !$0.isCached }.compactMap { answer in
            StoredAnswer(answer).map { (isbn: answer.isbn, outcome: answer.outcome.name, content: $0) }
        }
        guard !kept.isEmpty else { return }
        try await write { db in
            for answer in kept {
                // A source that has lost a record does not take away what another once knew.
                try db.run(
                    """
                    INSERT INTO answer (isbn, outcome, at, content) VALUES (?, ?, ?, ?)
                    ON CONFLICT (isbn) DO UPDATE
                        SET outcome = excluded.outcome, at = excluded.at, content = excluded.content
                        WHERE outcome = 'notFound' OR excluded.outcome = 'found'
                    """,
                    [
                        answer.isbn.digits, answer.outcome.rawValue, now.milliseconds,
                        try storedJSON(answer.content),
                    ])
            }
        }
    }
}

/// A found or not-found answer as it is stored.
private struct StoredAnswer: Codable {
    struct Left: Codable {
        var source: SourceName
        var reason: String
    }

    var found: Metadata?
    var from: SourceName?
    var asked: [SourceName]?
    var notAsked: [Left]

    /// `nil` for an outcome that is not kept.
    init?(_ answer: LookupAnswer) {
        notAsked = answer.notAsked.map { Left(source: $0.source, reason: $0.reason) }
        switch answer.outcome {
        case .found(let metadata, let source):
            found = metadata.storable
            from = source
        case .notFound(let sources): asked = sources
        case .temporary, .blocked, .badData: return nil
        }
    }

    func answer(for isbn: ISBN) -> LookupAnswer {
        let outcome: LookupOutcome =
            if let found, let from { .found(found, from: from) } else { .notFound(asked: asked ?? []) }
        return LookupAnswer(
            isbn: isbn, outcome: outcome, isCached: true,
            notAsked: notAsked.map { NotAsked(source: $0.source, reason: $0.reason) })
    }
}

import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: AnswerCache {
    /// The time for which a not-found answer is kept: seven days, in milliseconds.
    private static let notFoundKept: Int64 = 7 * 86_400_000

    public func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer] {
        guard !isbns.isEmpty else { return [:] }
        return try await read { db in
            // An answer with a date in the future was stored before the clock was set back, so its age is unknown.
            let rows = try db.rows(
                """
                SELECT isbn, content FROM answer
                WHERE isbn IN (SELECT value FROM json_each(?1)) AND (outcome = 'found' OR at BETWEEN ?2 - ?3 AND ?2)
                """, [jsonList(isbns.map(\.digits)), now.milliseconds, Self.notFoundKept])
            var answers: [ISBN: LookupAnswer] = [:]
            for row in rows {
                guard let isbn = try row.isbn() else { continue }
                answers[isbn] = try decodeJSON(StoredAnswer.self, row["content"]).answer(for: isbn)
            }
            return answers
        }
    }

    /// The longest time for which pending sources are left alone, in milliseconds. A later time was stored before the
    /// clock was set back.
    private static let longestWait: Int64 = 2 * 86_400_000

    /// Returns the number of cached answers whose pending sources are to be asked now.
    public func gapCount(at now: Date) async throws -> Int {
        try await read { db in
            try db.value(
                Int.self, "SELECT count(*) FROM answer WHERE gapsDue <= ?1 OR gapsDue > ?1 + ?2",
                [now.milliseconds, Self.longestWait]) ?? 0
        }
    }

    public func answersWithGaps(limit: Int, at now: Date) async throws -> [LookupAnswer] {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT isbn, content FROM answer
                WHERE gapsDue <= ?1 OR gapsDue > ?1 + ?2
                ORDER BY gapsDue, isbn LIMIT ?3
                """, [now.milliseconds, Self.longestWait, limit])
            return try rows.compactMap { row in
                guard let isbn = try row.isbn() else { return nil }
                return try decodeJSON(StoredAnswer.self, row["content"]).answer(for: isbn)
            }
        }
    }

    public func fillGapsAlone(_ body: @Sendable () async throws -> Void) async throws {
        guard try lock?.attempt(.exclusive, .gaps) ?? true else { return }
        do { try await body() } catch {
            try lock?.release(.gaps)
            throw error
        }
        try lock?.release(.gaps)
    }

    public func keep(_ answers: [LookupAnswer], at now: Date) async throws {
        // Answers that came from the cache are not stored again, so they keep their age.
        let kept = answers.filter { !$0.isCached }.compactMap { answer in
            StoredAnswer(answer).map {
                (isbn: answer.isbn, outcome: answer.outcome.name, due: $0.pending?.due, content: $0)
            }
        }
        guard !kept.isEmpty else { return }
        try await write { db in
            for answer in kept {
                // A not-found answer never replaces a record that was found earlier.
                try db.run(
                    """
                    INSERT INTO answer (isbn, outcome, at, gapsDue, content) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (isbn) DO UPDATE
                        SET outcome = excluded.outcome, at = excluded.at, gapsDue = excluded.gapsDue,
                            content = excluded.content
                        WHERE outcome = 'notFound' OR excluded.outcome = 'found'
                    """,
                    [
                        answer.isbn.digits, answer.outcome.rawValue, now.milliseconds, answer.due?.milliseconds,
                        try encodeJSON(answer.content),
                    ])
            }
        }
    }
}

/// Returns the cached record of a book; `nil` if there is none, or only one that may be another book's.
func knownRecord(of isbn: ISBN, _ db: Database) throws -> Metadata? {
    let content = try db.value(
        String.self, "SELECT content FROM answer WHERE isbn = ? AND outcome = 'found'", [isbn.digits])
    guard let found = try content.map({ try decodeJSON(StoredAnswer.self, $0) })?.found, !found.isWeakMatch else {
        return nil
    }
    return found
}

/// A found or not-found answer in the form in which it is stored as JSON.
private struct StoredAnswer: Codable {
    struct StoredNotAsked: Codable {
        var source: SourceName
        var reason: String
    }

    var found: Metadata?
    var from: SourceName?
    var asked: [SourceName]?
    var notAsked: [StoredNotAsked]
    var pending: PendingSources?

    /// - Returns: `nil` if answers with this outcome are not cached.
    init?(_ answer: LookupAnswer) {
        notAsked = answer.notAsked.map { StoredNotAsked(source: $0.source, reason: $0.reason) }
        switch answer.outcome {
        case .found(let metadata, let source):
            found = metadata.storable
            from = source
            pending = answer.pending
        case .notFound(let sources): asked = sources
        case .temporary, .blocked, .badData: return nil
        }
    }

    func answer(for isbn: ISBN) -> LookupAnswer {
        let outcome: LookupOutcome =
            if let found, let from { .found(found, from: from) } else { .notFound(asked: asked ?? []) }
        return LookupAnswer(
            isbn: isbn, outcome: outcome, isCached: true,
            notAsked: notAsked.map { NotAsked(source: $0.source, reason: $0.reason) }, pending: pending)
    }
}

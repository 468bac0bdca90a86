import Bookplate
import GRDB

/// Sums over the whole library. The trash and cancelled readings are not counted.
enum LibrarySums {
    /// Finished readings by their date.
    ///
    /// - Parameter year: only of this one, found by the index; `nil` for all, also those without a date.
    static func finishes(_ db: Database, year: Int? = nil) throws -> [Finishes] {
        func text(_ year: Int) -> String { CalendarDay(year: year)?.description ?? ":" }
        let isOfYear = year == nil ? "" : "AND finished >= ? AND finished < ?"
        return try db.rows(
            """
            SELECT finished, count(*) AS books, sum(coalesce(min(edition.pageCount, \(FigureLimit.pages)), 0)) AS pages
            FROM reading JOIN copy ON copy.id = reading.copy JOIN edition ON edition.id = copy.edition
            WHERE reading.state = 'finished' AND copy.deleted IS NULL \(isOfYear) GROUP BY finished
            """, year.map { [text($0), text($0 + 1)] } ?? []
        ).map { Finishes(date: try $0.day("finished"), books: $0["books"], pages: $0["pages"]) }
    }

    /// Mean pages an hour of the last sessions that have a pace.
    static func recentPace(_ db: Database) throws -> Double? {
        try db.value(
            Double.self,
            """
            SELECT avg(60.0 * pages / minutes) FROM (
                SELECT minutes, pages FROM (
                    SELECT start, id, \(DaySums.ofSession) FROM session
                    WHERE "end" IS NOT NULL AND session.reading NOT IN \(DaySums.uncounted))
                WHERE minutes > 0 AND pages > 0 ORDER BY start DESC, id DESC LIMIT \(Overview.recentSessions))
            """)
    }

    static func culturalGoals(_ db: Database, year: Int) throws -> [CulturalGoal] {
        try db.rows(
            """
            SELECT culturalGoalCategory AS category, count(*) AS books,
                sum(EXISTS (SELECT 1 FROM reading WHERE reading.copy = copy.id AND state = 'finished')) AS finished,
                sum(EXISTS (SELECT 1 FROM reading WHERE reading.copy = copy.id AND state = 'finished'
                    AND CAST(substr(finished, 1, 4) AS INTEGER) = ?)) AS finishedThisYear
            FROM copy WHERE countsForCulturalGoal = 1 AND deleted IS NULL
            GROUP BY culturalGoalCategory ORDER BY culturalGoalCategory IS NULL, culturalGoalCategory
            """, [year]
        ).map { row in
            CulturalGoal(
                category: row["category"], books: row["books"], finished: row["finished"],
                finishedThisYear: row["finishedThisYear"])
        }
    }

    static func ratings(_ db: Database) throws -> Ratings {
        let rows = try db.rows(
            "SELECT rating, count(*) AS copies FROM copy WHERE deleted IS NULL AND rating IS NOT NULL GROUP BY rating")
        return Ratings(Dictionary(uniqueKeysWithValues: rows.map { ($0["rating"] as Int, $0["copies"] as Int) }))
    }

    static func counts(_ db: Database) throws -> LibraryCounts {
        var counts = LibraryCounts()
        if let row = try db.row(
            """
            SELECT count(*) AS copies, total(isOwned) AS owned, total(isOnWishlist) AS wishlist,
                total(isFavourite) AS favourites
            FROM copy WHERE deleted IS NULL
            """)
        {
            counts.copies = row["copies"]
            counts.owned = row["owned"]
            counts.wishlist = row["wishlist"]
            counts.favourites = row["favourites"]
        }
        for row in try db.rows("SELECT status, count(*) AS copies FROM copy WHERE deleted IS NULL GROUP BY status") {
            counts.byStatus[try row.word("status")] = row["copies"]
        }
        for row in try db.rows(
            """
            SELECT format, language, count(*) AS copies FROM copy JOIN edition ON edition.id = copy.edition
            WHERE deleted IS NULL GROUP BY format, language
            """)
        {
            let copies: Int = row["copies"]
            counts.byFormat[try row.optionalWord("format"), default: 0] += copies
            let language: String? = row["language"]
            if let index = counts.byLanguage.firstIndex(where: { $0.language == language }) {
                counts.byLanguage[index].copies += copies
            } else {
                counts.byLanguage.append(LanguageCount(language: language, copies: copies))
            }
        }
        counts.byLanguage.sort { ($1.copies, $0.language ?? "~") < ($0.copies, $1.language ?? "~") }
        return counts
    }
}

import Bookplate
import FoundationEssentials
import GRDB

/// An edition and its rows in the tables around it.
struct StoredEdition {
    let row: Int64
    var edition: Edition

    private static let columns = [
        "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount",
        "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description",
        "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded",
    ]
    private static let insertion =
        "INSERT INTO edition (uuid, \(columns.joined(separator: ", "))) VALUES (?"
        + String(repeating: ", ?", count: columns.count) + ")"
    private static let update =
        "UPDATE edition SET " + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"

    /// Stores a new edition.
    static func insert(_ edition: Edition, _ db: Database) throws -> StoredEdition {
        try db.run(insertion, StatementArguments([edition.id.rawValue]) + values(of: edition))
        let stored = StoredEdition(row: db.lastInsertedRowID, edition: edition)
        try stored.insertAuthors(db)
        try stored.insertSubjects(db)
        try stored.insertIdentifiers(db)
        return stored
    }

    /// Brings the stored edition to `new`, touching only the tables in which something differs.
    func store(_ new: Edition, _ db: Database) throws {
        let changed = StoredEdition(row: row, edition: new)
        if new != edition { try db.run(Self.update, try Self.values(of: new) + [row]) }
        if new.metadata.authors != edition.metadata.authors {
            let before = try db.rows("SELECT author FROM editionAuthor WHERE edition = ?", [row])
            try db.run("DELETE FROM editionAuthor WHERE edition = ?", [row])
            try changed.insertAuthors(db)
            for author in before { try removeUnusedAuthor(db, author[0]) }
        }
        if new.metadata.subjects != edition.metadata.subjects {
            let before = try db.rows("SELECT subject FROM editionSubject WHERE edition = ?", [row])
            try db.run("DELETE FROM editionSubject WHERE edition = ?", [row])
            try changed.insertSubjects(db)
            for subject in before { try removeUnusedSubject(db, subject[0]) }
        }
        if new.metadata.identifiers != edition.metadata.identifiers {
            try db.run("DELETE FROM identifier WHERE edition = ?", [row])
            try changed.insertIdentifiers(db)
        }
        if new.metadata.coverURL != edition.metadata.coverURL {
            // The picture of the old address; a person's own photo stays.
            try db.run("DELETE FROM cover WHERE edition = ? AND state <> 'person'", [row])
        }
    }

    private static func values(of edition: Edition) throws -> StatementArguments {
        let data = edition.metadata
        let title = [data.title, data.subtitle].compactMap(\.self).joined(separator: " ")
        let values: [(any DatabaseValueConvertible)?] = [
            edition.isbn?.digits, edition.isbnText, data.title, data.subtitle, data.publisher,
            data.publishedDate?.description, data.publishedDateText, data.pageCount, data.language,
            data.originalLanguage, data.authorNationality, data.format?.rawValue, data.series, data.seriesNumber,
            data.description, data.coverURL, data.previewLink, data.infoLink, try storedJSON(data.sources),
            try storedJSON(edition.editedFields.sorted { $0.rawValue < $1.rawValue }), title.searchFolded,
        ]
        return StatementArguments(values)
    }

    private func insertAuthors(_ db: Database) throws {
        for (position, author) in edition.metadata.authors.enumerated() {
            let id = try storedID(
                db, find: "SELECT id FROM author WHERE name = ?", [author.name],
                make: "INSERT INTO author (name, folded) VALUES (?, ?)", [author.name, author.name.searchFolded])
            try db.run(
                "INSERT INTO editionAuthor (edition, position, author, role) VALUES (?, ?, ?, ?)",
                [row, position, id, author.role.rawValue])
        }
    }

    private func insertSubjects(_ db: Database) throws {
        for (position, subject) in edition.metadata.subjects.enumerated() {
            let id = try storedID(
                db, find: "SELECT id FROM subject WHERE name = ?", [subject],
                make: "INSERT INTO subject (name) VALUES (?)", [subject])
            try db.run(
                "INSERT INTO editionSubject (edition, position, subject) VALUES (?, ?, ?)", [row, position, id])
        }
    }

    private func insertIdentifiers(_ db: Database) throws {
        for (scheme, values) in edition.metadata.identifiers.sorted(by: { $0.key < $1.key }) {
            for (position, value) in values.enumerated() {
                try db.run(
                    "INSERT INTO identifier (edition, scheme, position, value) VALUES (?, ?, ?, ?)",
                    [row, scheme, position, value])
            }
        }
    }
}

/// The id of a row that is found, else made.
func storedID(
    _ db: Database, find: String, _ key: StatementArguments, make: String, _ values: StatementArguments
) throws -> Int64 {
    if let id = try db.value(Int64.self, find, key) { return id }
    try db.run(make, values)
    return db.lastInsertedRowID
}

/// A value as JSON whose keys are sorted, so that the same value is the same text.
func storedJSON(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// The value of a JSON column.
func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
}

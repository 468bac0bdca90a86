import Bookplate
import FoundationEssentials
import GRDB

extension Database {
    /// Executes a statement, which is compiled only once per connection.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Calls `body` with each row in turn. This is faster than ``rows(_:_:)``, because GRDB finds a column of the
    /// current row by its name directly, but has to compare names in a copied row.
    func forEachRow(_ sql: String, _ arguments: StatementArguments = [], _ body: (Row) throws -> Void) throws {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() { try body(row) }
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first column of the first row.
    func value<Value: DatabaseValueConvertible>(
        _ type: Value.Type, _ sql: String, _ arguments: StatementArguments = []
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}

extension Row {
    /// Decodes a column that holds a raw value of an enumeration.
    func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == String {
        try Self.word(self[column], column)
    }

    /// Decodes the column at an index, which is faster where there are very many rows.
    func word<Word: RawRepresentable>(_ column: String, at index: Int) throws -> Word where Word.RawValue == String {
        try Self.word(self[index], column)
    }

    private static func word<Word: RawRepresentable>(_ text: String, _ column: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else { throw RowDecodingError(column, text) }
        return word
    }

    func optionalWord<Word: RawRepresentable>(_ column: String) throws -> Word? where Word.RawValue == String {
        if self[column] as String? != nil { return try word(column) }
        // GRDB also returns NULL if the column does not exist. This has to be an error here.
        return try hasNull(atIndex: index(forColumn: column)) ? nil : word(column)
    }

    private func index(forColumn column: String) throws -> Int {
        guard let index = columnNames.firstIndex(of: column) else {
            throw RowDecodingError(what: "the column '\(column)' is missing")
        }
        return columnNames.distance(from: columnNames.startIndex, to: index)
    }

    /// Decodes a column that holds a calendar day.
    func day(_ column: String) throws -> CalendarDay? { try Self.day(self[column], column) }

    /// Decodes the column at an index, which is faster where there are very many rows.
    func day(_ column: String, at index: Int) throws -> CalendarDay? { try Self.day(self[index], column) }

    private static func day(_ text: String?, _ column: String) throws -> CalendarDay? {
        guard let text else { return nil }
        guard let day = CalendarDay(text) else { throw RowDecodingError(column, text) }
        return day
    }

    /// Decodes the column `isbn`.
    func isbn() throws -> ISBN? {
        guard let digits = self["isbn"] as String? else { return nil }
        do {
            return try ISBN(ean13: digits)
        } catch {
            throw RowDecodingError(what: "a stored ISBN is invalid: \(error)")
        }
    }
}

/// The error for a stored value that cannot be decoded, because the domain has no such value.
struct RowDecodingError: Error {
    var what: String
}

extension RowDecodingError {
    fileprivate init(_ column: String, _ value: String) {
        what = "the column '\(column)' has the invalid value '\(value.prefix(40))'"
    }
}

/// Returns the numbers as one JSON argument, so that lists of any length share one compiled statement.
func jsonList(_ numbers: some Collection<Int64>) -> String {
    "[" + numbers.map(String.init).joined(separator: ",") + "]"
}

/// Returns the texts as one JSON argument, so that lists of any length share one compiled statement.
func jsonList(_ texts: some Collection<String>) -> String { JSONValue(Array(texts)).text }

/// Returns the id of the row with the given key. If there is no such row, inserts it first.
func findOrInsert(
    _ db: Database, find: String, _ key: StatementArguments, insert: String, _ values: StatementArguments
) throws -> Int64 {
    if let id = try db.value(Int64.self, find, key) { return id }
    try db.run(insert, values)
    return db.lastInsertedRowID
}

/// Encodes a value as JSON with sorted keys, so that equal values result in equal texts.
func encodeJSON(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Decodes the value of a JSON column.
func decodeJSON<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
}

extension Date {
    /// The number of milliseconds since 1970. Dates are stored as integers because SQLite's JSON would round a
    /// floating-point number.
    var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        // The result is limited to the years 0 to 9999, because any other date comes from a wrong clock or a faulty
        // import.
        return Int64(max(-62_167_219_200_000, min(253_402_300_799_999, value.isNaN ? 0 : value)))
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

/// Returns the number of days from 1970 to the day of a time in UTC.
///
/// - Parameter milliseconds: the time since 1970.
func utcDay(_ milliseconds: Int64) -> Int64 { Int64((Double(milliseconds) / 86_400_000).rounded(.down)) }

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1000).overflow
            ? (seconds < 0 ? .min : .max) : seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

extension String {
    /// Returns the text, cleaned and cut after `limit` characters; `nil` if nothing is left. The result is a single
    /// line, unless the limit is one that allows several lines (`TextLimit.hasLines`).
    func storable(_ limit: Int) -> String? {
        let cleaned = prefix(bytes: limit * TextLimit.bytesPerCharacter).cleaned(forLimit: limit)
        let cut = cleaned.utf8.count <= limit ? cleaned : String(cleaned.prefix(limit)).cleaned(forLimit: limit)
        return cut.isEmpty ? nil : cut
    }

    /// Returns the longest beginning of the text that fits into the given number of bytes of UTF-8. It is cut between
    /// Unicode scalars.
    private func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

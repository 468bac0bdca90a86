import Bookplate

@testable import Exchange

/// Returns a closure that gives the bytes of a file in chunks.
func chunks(_ bytes: [UInt8], of size: Int = 7) -> () throws -> [UInt8]? {
    var rest = bytes[...]
    return {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }
}

/// Returns the rows of a file.
func rows(
    _ bytes: [UInt8], as format: ExchangeFormat? = nil, preset: ImportPreset = ImportPreset(),
    chunk: Int = 4096
) throws -> (format: ExchangeFormat, rows: [ImportRow]) {
    let file = try ImportFile("a.csv", as: format, preset: preset, next: chunks(bytes, of: chunk))
    var rows: [ImportRow] = []
    while let row = try file.nextRow() { rows.append(row) }
    return (file.format, rows)
}

func rows(_ text: String) throws -> [ImportRow] { try rows(Array(text.utf8)).rows }

/// Returns the books of a file without refused rows.
func books(_ text: String) throws -> [ImportedBook] {
    try rows(text).map { row in
        guard case .book(let book) = row else { throw LineError(description: "\(row)") }
        return book
    }
}

/// One book of one tracker: a header and a row of named cells, quoted.
func book(_ header: String, by separator: Character = ",", _ cells: [String: String]) throws -> ImportedBook {
    let names = header.split(separator: separator).map(String.init)
    let row = names.map { "\"" + (cells[$0] ?? "").replacing("\"", with: "\"\"") + "\"" }.joined(
        separator: String(separator))
    let all = try books(header + "\r\n" + row + "\r\n")
    guard all.count == 1 else { throw LineError(description: "\(all.count) books") }
    return all[0]
}

let goodreadsHeader =
    "Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies"
let storyGraphHeader =
    "Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Dates Read,Read Count,Moods,Pace,Character- or Plot-Driven?,Strong Character Development?,Loveable Characters?,Diverse Characters?,Flawed Characters?,Star Rating,Review,Content Warnings,Content Warning Description,Tags,Owned?"
let libraryThingHeader =
    "Book Id\tTitle\tSort Character\tPrimary Author\tPrimary Author Role\tSecondary Author\tSecondary Author Roles\tPublication\tDate\tReview\tRating\tComment\tPrivate Comment\tSummary\tMedia\tPhysical Description\tPage Count\tLCCN\tAcquired\tDate Started\tDate Read\tTags\tCollections\tLanguages\tOriginal Languages\tISBN\tISBNs\tSubjects\tCopies\tEntry Date\tOCLC\tWork id"
let openreadsHeader =
    "title,subtitle,author,description,status,favourite,deleted,rating,pages,publisher,publication_year,isbn,olid,tags,my_review,notes,book_format,readings,date_added,date_modified"

extension ImportedBook {
    /// The days of its readings: "finished 2020-01-02>2020-01-05".
    var days: [String] {
        record.readings.map { record in
            let reading = record.reading
            return
                "\(reading.state.rawValue) \(reading.started?.description ?? "")>\((reading.finished ?? reading.stopped)?.description ?? "")"
        }
    }
}

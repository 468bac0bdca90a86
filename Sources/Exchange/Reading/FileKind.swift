/// Recognises, by their first bytes, the files that cannot be imported.
///
/// Sources of the signatures: the specification of each format; https://www.iana.org/assignments/media-types.
enum FileKind {
    /// - Returns: a description of the file, and advice on what to do instead; `nil` if the file may be text.
    static func foreign(_ head: [UInt8]) -> (what: String, advice: String)? {
        func begins(_ mark: [UInt8]) -> Bool { head.starts(with: mark) }
        func begins(_ mark: String) -> Bool { head.starts(with: Array(mark.utf8)) }
        let photo = "To capture the books in a photo, run 'scan --image FILE'."
        let export = "Export the books as CSV."
        if begins([0xFF, 0xD8, 0xFF]) { return ("a JPEG photo", photo) }
        if begins([0x89, 0x50, 0x4E, 0x47]) { return ("a PNG picture", photo) }
        if begins("RIFF"), head.dropFirst(8).starts(with: Array("WEBP".utf8)) { return ("a WebP picture", photo) }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) { return ("a HEIC photo or a video", photo) }
        if begins("GIF8") { return ("a GIF picture", photo) }
        if begins("SQLite format 3\0") {
            return ("a SQLite database", "To restore a library or a backup of Bookplate, run 'scan restore FILE'.")
        }
        if begins([0x50, 0x4B, 0x03, 0x04]) || begins([0x50, 0x4B, 0x05, 0x06]) {
            return ("a ZIP archive or an Excel, LibreOffice or EPUB file", "Unpack it, or save the table as CSV.")
        }
        if begins([0xD0, 0xCF, 0x11, 0xE0]) { return ("an old Excel or Word file", "Save the table as CSV.") }
        if begins([0x1F, 0x8B]) {
            return ("compressed with gzip", "To import it, run 'gunzip -c FILE | scan import -'.")
        }
        if begins([0x42, 0x5A, 0x68]) || begins([0x28, 0xB5, 0x2F, 0xFD]) || begins([0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
            return ("compressed", "Unpack it first.")
        }
        if begins("%PDF") { return ("a PDF document", export) }
        if begins([0x7F, 0x45, 0x4C, 0x46]) { return ("a program", export) }
        return markup(head)
    }

    private static func markup(_ head: [UInt8]) -> (what: String, advice: String)? {
        let start = head.drop { $0 <= 0x20 || $0 >= 0x80 }.prefix(64).map { $0 | ($0 >= 0x41 && $0 <= 0x5A ? 0x20 : 0) }
        func begins(_ mark: String) -> Bool { start.starts(with: Array(mark.utf8)) }
        if begins("<!doctype html") || begins("<html") || begins("<head") {
            return ("a web page", "You may have downloaded a sign-in page. Download the export again.")
        }
        if begins("<?xml") || begins("<!doctype") { return ("an XML file", "Export the books as CSV.") }
        if begins("{\\rtf") { return ("an RTF document", "Save the table as CSV.") }
        let advice = "Bookplate writes this format, but cannot read it. To move books, export them as JSON or CSV."
        if begins("@") {
            let type = start.dropFirst().prefix { (0x61...0x7A).contains($0) }
            let next = start.dropFirst(1 + type.count).drop { $0 == 0x20 }.first
            if !type.isEmpty, next == UInt8(ascii: "{") { return ("a BibTeX file", advice) }
        }
        if begins("- **") { return ("a list in Markdown", advice) }
        return nil
    }
}

import Bookplate
import FoundationEssentials
import Mustache

/// One book of the list as the template shows it. No dictionary, and a class, since Mustache passes it on as `Any` for each of its
/// fields: the page is asked for with every letter typed.
final class LibraryHit: Sendable, MustacheParent {
    private let hit: BookHit
    private let texts: Texts
    private let now: Date
    private let hasCover: Bool

    init(hit: BookHit, texts: Texts, now: Date, hasCover: Bool) {
        self.hit = hit
        self.texts = texts
        self.now = now
        self.hasCover = hasCover
    }

    func child(named name: String) -> Any? {
        switch name {
        case "id": hit.book.copy.id.rawValue
        case "cover": hasCover ? "/covers/\(hit.book.edition.id.rawValue)" : nil
        case "name":
            Self.short(hit.book.edition.metadata.title ?? hit.book.edition.isbn?.hyphenated ?? texts("common.untitled"))
        case "initial": hit.book.displayTitle.first.map(String.init) ?? ""
        case "author": author
        case "isMarked": hit.match?.field == .title
        case "hasWhy": hit.match.map { $0.field != .title } ?? false
        case "why": hit.match.map { texts("library.in_\($0.field.rawValue)") } ?? ""
        case "snippet": (hit.match?.snippet.parts ?? []).map(LibraryMark.init)
        case "isReading": percent != nil
        case "percent": percent.map(String.init) ?? ""
        case "hasMarks":
            hit.book.copy.rating != nil || hit.book.copy.isOnWishlist || hit.book.copy.isFavourite
                || !hit.book.copy.tags.isEmpty
                || hit.book.copy.deleted != nil
        case "hasStars": hit.book.copy.rating != nil
        case "stars": hit.book.copy.rating.map(Copy.stars) ?? ""
        case "rated": hit.book.copy.rating.map { texts("library.rated", ["stars": texts.decimal($0)]) } ?? ""
        case "isWish": hit.book.copy.isOnWishlist
        case "isFavourite": hit.book.copy.isFavourite
        case "tags": tags
        case "isTrash": hit.book.copy.deleted != nil
        case "daysLeft":
            hit.book.copy.deleted.map { texts("library.daysLeft", count: Trash.daysLeft(deleted: $0, now: now)) } ?? ""
        case "statusCode": hit.book.copy.status.rawValue
        case "statusName": texts.word(for: hit.book.copy.status)
        case "statusOf": texts.status(hit.book.copy.status, of: texts.shownTitle(of: hit.book))
        default: nil
        }
    }

    /// The first few, and how many more.
    private var tags: [String] {
        let tags = hit.book.copy.tags
        return tags.prefix(4).map(Self.short) + (tags.count > 4 ? ["+\(tags.count - 4)"] : [])
    }

    private var author: String {
        let names = hit.book.edition.metadata.authorNames
        return names.isEmpty ? texts("common.unknownAuthor") : Self.short(names.joined(separator: ", "))
    }

    /// How far the reader is, while it is being read.
    private var percent: Int? {
        guard hit.book.copy.status == .reading || hit.book.copy.status == .onHold,
            let amount = hit.book.copy.reading?.progress?.amount,
            let part = amount.fraction(of: hit.book.edition.metadata.pageCount)
        else { return nil }
        return Int((min(1, max(0, part)) * 100).rounded())
    }

    /// Names are 512 characters at the most; a list shows two lines of them.
    static func short(_ text: String) -> String {
        let line = text.cleanedLine
        return line.utf8.count <= 200 ? line : line.prefix(150) + "…"
    }
}

/// A piece of text, perhaps marked.
struct LibraryMark: Sendable, MustacheParent {
    let text: String
    let isMatch: Bool

    init(_ part: Snippet.Part) { (text, isMatch) = (part.text, part.isMatch) }

    func child(named name: String) -> Any? {
        switch name {
        case "text": text
        case "isMatch": isMatch
        default: nil
        }
    }
}

extension Texts {
    /// `4.5`, or `4,5` where people write it so.
    func decimal(_ number: Double) -> String {
        let text = JSONValue.number(number).text
        return language == .english ? text : text.replacing(".", with: ",")
    }
}

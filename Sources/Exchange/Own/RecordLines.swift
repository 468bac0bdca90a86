import Bookplate
import FoundationEssentials

// The lines of our JSON as they are decoded: what they hold is checked word by word when they become records.

/// Why a line is refused.
struct LineRefusal: Error, CustomStringConvertible {
    var description: String
}

struct RecordLine: Decodable {
    var record: String
    var version: Int?
    var name: String?
    var value: String?
    var id: String?
    var isbn13: String?
    var isbnText: String?
    var title: String?
    var subtitle: String?
    var authors: [ContributorLine]?
    var publisher: String?
    var publishedDate: String?
    var publishedDateText: String?
    var pageCount: Int?
    var language: String?
    var originalLanguage: String?
    var authorNationality: String?
    var format: String?
    var series: String?
    var seriesNumber: String?
    var description: String?
    var subjects: [String]?
    var coverURL: String?
    var previewLink: String?
    var infoLink: String?
    var identifiers: [String: [String]]?
    var sources: [String: String]?
    var editedFields: [String]?
    var copies: [CopyLine]?
}

struct ContributorLine: Decodable {
    var name: String
    var role: String
}

struct CopyLine: Decodable {
    var id: String
    var status: String
    var owned: Bool?
    var wishlist: Bool?
    var favourite: Bool?
    var shelf: String?
    var tags: [String]?
    var rating: Double?
    var `public`: Bool?
    var recommendedBy: String?
    var wouldRecommend: Bool?
    var dailyGoal: Int?
    var culturalGoal: Bool?
    var culturalGoalCategory: String?
    var added: String
    var deleted: String?
    var requests: [String]?
    var readings: [ReadingLine]?
    var notes: [NoteLine]?
    var quotes: [QuoteLine]?
    var flags: [FlagLine]?
}

struct ReadingLine: Decodable {
    var id: String?
    var state: String
    var started: String?
    var finished: String?
    var stopped: String?
    var progress: [EntryLine]?
    var sessions: [SessionLine]?
}

struct EntryLine: Decodable {
    var id: String
    var at: String
    var page: Int?
    var percent: Double?
    var automatic: Bool?
    var session: String?
}

struct SessionLine: Decodable {
    var id: String
    var start: String
    var end: String?
    var startPage: Int?
    var endPage: Int?
}

struct NoteLine: Decodable {
    var id: String?
    var kind: String
    var text: String
    var created: String
}

struct QuoteLine: Decodable {
    var id: String?
    var text: String
    var page: Int?
    var created: String
}

struct FlagLine: Decodable {
    var source: String
    var what: String
    var raw: String
    var at: String
}

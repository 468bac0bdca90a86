import Bookplate
import Foundation
import Hub
import Library
import Terminal

/// Finds the values that can stand at a place of the command line: names, books, ids and so on.
///
/// The time for an answer hardly depends on the size of the library: each value is found through an index, and at most
/// ``limit`` or ``shortLimit`` of them are read.
struct CompletedValues {
    /// The maximum number of names.
    private static let limit = 100
    /// The maximum number of books, changes, notes and so on.
    private static let shortLimit = 30

    private let position: CommandPosition

    init(_ position: CommandPosition) { self.position = position }

    /// Returns the files that can stand there in addition to the candidates.
    func files(for kind: CompletedValue) -> CompletionAnswer.Files? {
        switch kind {
        case .backup: .files(extensions: ["sqlite"])
        case .settingValue where setting == .program(.backupFolder): .folders
        case .settingValue:
            if case .program(let setting)? = setting, setting.isPath || setting == .camera {
                .files(extensions: [])
            } else {
                nil
            }
        default: nil
        }
    }

    /// Returns the values that begin with the typed text.
    ///
    /// - Throws: the error of the settings or of the library.
    func candidates(for kind: CompletedValue) async throws -> [CompletionCandidate] {
        try await candidates(for: kind, position.typed)
    }

    private func candidates(for kind: CompletedValue, _ typed: String) async throws -> [CompletionCandidate] {
        switch kind {
        case .tag: try await names(.tag, typed)
        case .shelf: try await names(.shelf, typed)
        case .author: try await names(.author, typed)
        case .reader: try await Self.names(of: library(ofReader: nil)?.readers()).fitting(typed)
        case .deletedReader: try await Self.names(of: library(ofReader: nil)?.deletedReaders()).fitting(typed)
        case .book: try await books(typed)
        case .bookWords: try await books(typed, after: position.earlier)
        case .trashedBook: try await books(typed, inTrash: true)
        case .query: try await query(typed)
        case .waitingItem: try await waitingItems(typed)
        case .change: try await changes().fitting(typed)
        case .note:
            try await library()?.latestNotes(limit: Self.shortLimit).map {
                Self.id($0.content.id, "\($0.book.displayTitle): \($0.content.text)")
            }.fitting(typed) ?? []
        case .quote:
            try await library()?.latestQuotes(limit: Self.shortLimit).map {
                Self.id($0.content.id, "\($0.book.displayTitle): \($0.content.text)")
            }.fitting(typed) ?? []
        case .session:
            try await library()?.sessions(of: nil, limit: Self.shortLimit, offset: 0).map {
                Self.id($0.session.id, length: 8, "\(LocalTime.current.dateTime($0.session.start)) \($0.displayTitle)")
            }.fitting(typed) ?? []
        case .backup: try backups().fitting(typed)
        case .hub:
            try PairedHubs(path: settings().paths.hubsFile).all().map { CompletionCandidate($0.address, $0.name) }
                .fitting(typed)
        case .station:
            try await library()?.pairedStations().filter { $0.revoked == nil }.map { CompletionCandidate($0.name) }
                .fitting(typed) ?? []
        case .settingValue: try await settingValues(typed)
        case .language: Self.languages.fitting(typed)
        case .day: Self.days.map { CompletionCandidate($0) }.fitting(typed)
        case .filter:
            try await library()?.savedFilters().map { CompletionCandidate($0.name, $0.query) }.fitting(typed) ?? []
        }
    }

    private static let days = [
        "today", "yesterday", "last monday", "this week", "last week", "this month", "last month", "this year",
        "last year",
    ]

    /// The codes of languages in which many books are printed. Any other code can be typed.
    private static let languages = [
        "ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "it", "ja", "ko", "la", "nb", "nl", "pl",
        "pt", "ru", "sv", "tr", "uk", "zh",
    ].map { CompletionCandidate($0, Locale(identifier: "en").localizedString(forLanguageCode: $0)) }

    // MARK: The library

    /// The settings, with the options that have been typed so far.
    private func settings() throws -> Settings {
        var flags: [Setting: String] = [:]
        flags[.library] = position.given["--library"].map { path in
            // The shell replaces the tilde when it runs the command.
            path.hasPrefix("~/") ? (ProcessInfo.processInfo.environment["HOME"] ?? "") + path.dropFirst() : path
        }
        flags[.reader] = position.given["--reader"]
        return try Settings(flags: flags)
    }

    private func library() throws -> LibraryFile? { try library(ofReader: settings()[.reader]) }

    private func library(ofReader reader: String?) throws -> LibraryFile? {
        guard let path = try settings()[.library] else { return nil }
        return try LibraryFile.openForQuickReads(at: path)?.reading(asNamed: reader, holder: TerminalSession.current)
    }

    private func names(_ kind: NameKind, _ typed: String) async throws -> [CompletionCandidate] {
        try await library()?.suggestions(for: kind, beginning: typed, limit: Self.limit).map {
            CompletionCandidate($0.name, counted($0.count, "book"))
        } ?? []
    }

    private static func names(of readers: [Reader]?) -> [CompletionCandidate] {
        readers?.compactMap(\.name).map { CompletionCandidate($0) } ?? []
    }

    private func changes() async throws -> [CompletionCandidate] {
        guard let library = try library() else { return [] }
        let changes =
            try await position.command == RedoCommand.self
            ? library.redoableChanges(limit: Self.shortLimit)
            : library.changes(limit: Self.shortLimit).filter { $0.undone == nil }
        return changes.map { Self.id($0.id, length: 8, "\(LocalTime.current.dateTime($0.at)) \($0.summary)") }
    }

    /// Returns the end of an id, as lists show it.
    private static func id<Entity>(_ id: ID<Entity>, length: Int = 6, _ explanation: String) -> CompletionCandidate {
        CompletionCandidate(String(id.rawValue.suffix(length)), explanation.oneLine.fitted(60))
    }

    /// Returns waiting items by their ISBNs or, if none fits, by their ids.
    private func waitingItems(_ typed: String) async throws -> [CompletionCandidate] {
        let items = try await library()?.items(in: [.waiting]).suffix(Self.limit) ?? []
        func title(_ item: QueueItem) -> String { (item.metadata?.title ?? item.isbn.hyphenated).oneLine.fitted(60) }
        let numbers = items.map { CompletionCandidate($0.isbn.digits, title($0)) }.fitting(typed)
        return numbers.isEmpty ? items.map { Self.id($0.id, title($0)) }.fitting(typed) : numbers
    }

    /// Returns the names of the backups, newest first. The backups themselves are not opened.
    private func backups() throws -> [CompletionCandidate] {
        try BackupList(settings(), json: false).folders.flatMap { folder in
            // The second folder may be on a disk that is not connected.
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }.filter { $0.hasSuffix(".sqlite") }.sorted(by: >).map { CompletionCandidate($0) }
    }

    // MARK: Books

    /// Returns books by their titles. A text of digits is the beginning of an ISBN.
    ///
    /// If no title begins with the text, the books are those that a search for it finds.
    ///
    /// - Parameter earlier: the words of the name before the typed one.
    private func books(
        _ typed: String, after earlier: [String] = [], inTrash: Bool = false
    ) async throws -> [CompletionCandidate] {
        var query = BookQuery()
        query.text = (earlier + [typed]).joined(separator: " ").cleaned
        (query.searchesAnnotations, query.inTrash) = (false, inTrash)
        (query.limit, query.countLimit) = (Self.shortLimit, 1)
        let books = try await library()?.books(matching: query).hits.map(\.book) ?? []
        let digits = typed.filter { $0 != "-" }
        if earlier.isEmpty, digits.count > 3, digits.allSatisfy(\.isNumber) {
            let numbers = books.compactMap { book in
                book.edition.isbn.map {
                    CompletionCandidate($0.digits, Self.explanation(of: book, with: \.displayTitle))
                }
            }.fitting(digits)
            if !numbers.isEmpty { return numbers }
        }
        var found: [(title: String, books: [Book])] = []
        for book in books {
            guard let title = book.edition.metadata.title else { continue }
            let rest = Self.rest(of: title, after: earlier)
            if let index = found.firstIndex(where: { $0.title == rest }) {
                found[index].books.append(book)
            } else {
                found.append((rest, [book]))
            }
        }
        let all = found.map { title, books in
            CompletionCandidate(
                title,
                books.count == 1 ? Self.explanation(of: books[0], with: \.displayAuthors) : counted(books.count, "book")
            )
        }
        let fitting = all.filter { $0.text.searchFolded.hasPrefix(typed.searchFolded) }
        return fitting.isEmpty ? all : fitting
    }

    /// Returns the words of a title that follow the given words; the whole title if it does not begin with them.
    private static func rest(of title: String, after earlier: [String]) -> String {
        let words = title.split(separator: " ")
        let isBeginning =
            words.count > earlier.count && zip(words, earlier).allSatisfy { String($0).searchFolded == $1.searchFolded }
        return isBeginning ? words.dropFirst(earlier.count).joined(separator: " ") : title
    }

    private static func explanation(of book: Book, with text: (Book) -> String) -> String {
        let year = book.edition.metadata.publishedDate.map { ", \($0)" } ?? ""
        return text(book).oneLine.fitted(50) + year.oneLine
    }

    // MARK: Searches and settings

    /// Returns the names of fields, the values of a field, or books.
    private func query(_ typed: String) async throws -> [CompletionCandidate] {
        let sign = typed.hasPrefix("-") ? "-" : ""
        let term = typed.dropFirst(sign.count)
        guard let colon = term.firstIndex(of: ":") else {
            let fields = QueryField.allCases.map {
                CompletionCandidate("\(sign)\($0.rawValue):", $0.meaning, isOpen: true)
            }.fitting(typed)
            return try await term.isEmpty || !sign.isEmpty || !fields.isEmpty
                ? fields : books(typed, after: position.earlier)
        }
        let name = term[..<colon]
        let value = term[term.index(after: colon)...]
        let text = String(value.drop { $0 == "\"" })
        let values: [CompletionCandidate]
        switch QueryField(name: String(name))?.values {
        case .list(let texts)?: values = texts.map { CompletionCandidate($0) }.fitting(text)
        case .library(let kind)?: values = try await candidates(for: kind, text)
        case .free?, nil: values = []
        }
        return values.map { found in
            CompletionCandidate("\(sign)\(name):\(QueryField.written(found.text, after: value))", found.explanation)
        }
    }

    private var setting: NamedSetting? { position.positionals.first.flatMap(NamedSetting.init(argument:)) }

    private func settingValues(_ typed: String) async throws -> [CompletionCandidate] {
        switch setting {
        case .program(.offline)?, .library(.automaticDates)?, .library(.guestView)?,
            .library(.ignoreArticles)?, .library(.authorsByFamilyName)?:
            ["0", "1"].map { CompletionCandidate($0) }.fitting(typed)
        case .program(.reader)?: try await candidates(for: .reader, typed)
        case .program(.cameraSize)?: FrameSize.usual.map { CompletionCandidate($0) }.fitting(typed)
        case .library(.sources)?: [CompletionCandidate(SourceOrder.standard.text)].fitting(typed)
        default: []
        }
    }
}

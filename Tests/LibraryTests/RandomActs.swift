import Bookplate
import FoundationEssentials
import TestTools

@testable import Library

// Random acts on readings, labels and annotations. They are the same for the same seed.
extension LibraryFile {
    func track(_ book: Book, _ random: inout SplitMix, at now: Date) async throws {
        let id = book.id
        let year = CalendarDay("\(1990 + random.below(40))")
        switch random.below(14) {
        case 12: _ = try await setStatus(.toRead, of: id, on: nil, at: now)
        case 0, 1: _ = try await setStatus(Copy.Status.allCases[random.below(5)], of: id, on: nil, at: now)
        case 2: _ = try await recordProgress(.page(random.below(500)), of: id, at: now)
        case 3: _ = try await recordProgress(.percent(Double(random.below(101))), of: id, at: now)
        case 4:
            _ = try await setDates(DateEdit(started: year.map { .set($0) } ?? .clear), of: id, reading: nil, at: now)
        case 5: _ = try await addReading(to: id, started: nil, finished: year, stopped: nil, at: now)
        case 6, 13:
            guard let reading = book.copy.readings.randomElement(using: &random) else { return }
            _ = try await deleteReading(reading.id, of: id, at: now)
        case 7: _ = try await startSession(of: id, page: nil, from: nil, at: now)
        case 8: _ = try await stopSession(page: random.below(900), end: nil, forced: true, at: now)
        case 9:
            _ = try await addSession(
                of: id, start: now.addingTimeInterval(-600), end: now, startPage: nil, endPage: random.below(400),
                at: now)
        default:
            let sessions = try await sessions(of: nil, limit: 100, offset: 0)
            guard let session = sessions.randomElement(using: &random)?.session else { return }
            if random.below(3) == 0 {
                _ = try await deleteSession(session.id, at: now)
            } else {
                _ = try await editSession(session.id, SessionEdit(startPage: random.below(50)), at: now)
            }
        }
    }

    func annotation(_ book: Book, _ random: inout SplitMix, _ words: [String], at now: Date) async throws {
        let word = words[random.below(words.count)]
        switch random.below(7) {
        case 0: _ = try await add(Note(text: word, created: now), to: book.id, at: now)
        case 1: _ = try await add(Quote(text: word, page: 1 + random.below(300), created: now), to: book.id, at: now)
        case 2:
            guard let note = try await latestNotes(limit: 9).randomElement(using: &random) else { return }
            _ = try await editNote(note.content.id, at: now) { $0.text += word }
        case 3:
            guard let quote = try await latestQuotes(limit: 9).randomElement(using: &random) else { return }
            _ = try await editQuote(quote.content.id, at: now) { $0.page = nil }
        case 4:
            guard let note = try await latestNotes(limit: 9).randomElement(using: &random) else { return }
            _ = try await deleteNotes([note.content.id], at: now)
        case 5:
            guard let quote = try await latestQuotes(limit: 9).randomElement(using: &random) else { return }
            _ = try await deleteQuotes([quote.content.id], at: now)
        default: try await set("yearlyGoal", to: random.below(3) == 0 ? nil : "\(random.below(50))", at: now)
        }
    }

    /// Merges two books, which may be copies of one edition or different editions, or marks them as not the same.
    func merge(_ book: Book, _ books: [Book], _ random: inout SplitMix, at now: Date) async throws {
        guard let other = books.randomElement(using: &random) else { return }
        let options = MergeOptions(joinsEditions: random.below(4) > 0, keepsCopies: random.below(3) == 0)
        if options.joinsEditions {
            _ = try await merge([other.id], into: book.id, options, at: now)
        } else {
            _ = try await markDistinct([book.id, other.id], at: now)
        }
    }

    func relabel(_ book: Book, _ random: inout SplitMix, _ words: [String], at now: Date) async throws {
        let kind = Label.Kind.allCases[random.below(2)]
        let (name, other) = (words[random.below(words.count)], words[random.below(words.count)])
        switch random.below(8) {
        case 0: _ = try await addLabel(kind, name, to: [book.id], at: now)
        case 1: _ = try await removeLabel(.tag, book.copy.tags.first ?? name, from: [book.id], at: now)
        case 2: _ = try await renameLabel(kind, name, to: name + other, at: now)
        case 3: _ = try await mergeLabels(kind, [name], into: other, at: now)
        case 4: _ = try await deleteLabels(kind, [name], at: now)
        case 5: _ = try await renameAuthor(name, to: name + other, at: now)
        case 6: _ = try await mergeAuthors([name], into: other, at: now)
        default: _ = try await deleteAuthors([name], at: now)
        }
    }

    /// Imports a file in two batches. Its books are both existing and new books, with readings, sessions, notes, tags
    /// and a doubt.
    func importFile(_ random: inout SplitMix, _ words: [String], at now: Date) async throws {
        let run = LibraryImport(into: self, from: "a.csv")
        for part in 0..<2 {
            var rows: [ImportRow] = [.record(.tag(words[random.below(words.count)] + "\(part)"), row: 1)]
            for row in 2..<(3 + random.below(3)) {
                let word = words[random.below(words.count)]
                let number = random.below(14)
                let isRead = random.below(2) == 0
                rows.append(
                    .book(
                        imported("\(word) \(number)", number < 12 ? isbn(number) : nil, by: word, row: row) { book in
                            if isRead { asRead(&book) }
                            book.record.copy.tags.append(word)
                            book.doubts = ["\(word) is doubtful"]
                            book.raw = word
                        }))
            }
            _ = try await run.importRows(rows, at: now)
        }
    }
}

extension Error {
    /// True if the error says that an act does not fit the state of the library.
    var isRefusal: Bool {
        switch self {
        case is ReadingRefusal, is SessionError, is LabelRefusal, is InTrashRefusal, is AnnotationRefusal,
            is TextRefusal,
            is InputRefusal, is MergeRefusal:
            true
        case let error as LibraryError: if case .noSuchBook = error { true } else { false }
        default: false
        }
    }
}

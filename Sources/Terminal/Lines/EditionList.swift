import Bookplate
import Station

/// The editions that a person chooses from, some at a time. The digits take one of those that are shown.
package struct EditionList {
    enum Step: Equatable {
        /// The same editions are shown as before.
        case choosing
        /// Other editions are shown.
        case turned
        /// The place of the edition that was taken, in the whole list.
        case taken(Int)
        case cancelled
    }

    let choices: [EditionChoice]
    /// The number of editions that are shown at a time; at most as many as there are digits.
    private let page: Int
    private var first = 0

    /// The number of lines of one edition, which an edition that the library has may exceed.
    private static let linesOfOne = 3

    /// - Parameter rows: the rows of the screen that the list may fill.
    package init(_ choices: [EditionChoice], rows: Int = .max) {
        self.choices = choices
        page = max(1, min(9, (rows - 1) / Self.linesOfOne))
    }

    private var shown: Range<Int> { first..<min(choices.count, first + page) }

    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .character("n") where shown.upperBound < choices.count:
            first += page
            return .turned
        case .character("p") where first > 0:
            first -= page
            return .turned
        case .character("q"), .escape, .end, .control("d"): return .cancelled
        case .character(let character):
            if let digit = character.wholeNumberValue, digit > 0, digit <= shown.count {
                return .taken(first + digit - 1)
            }
        default: break
        }
        return .choosing
    }

    /// Returns the editions that are shown and the keys, as lines.
    func lines(width: Int) -> [(text: String, ink: Ink)] {
        let keys = [
            shown.count == 1 ? "[1] take it" : "[1-\(shown.count)] take one",
            shown.upperBound < choices.count ? "[n] next" : "", first > 0 ? "[p] previous" : "", "[Esc] cancel",
        ].filter { !$0.isEmpty }.joined(separator: "  ")
        let place = choices.count > page ? "  \(first + 1) to \(shown.upperBound) of \(choices.count)" : ""
        return shown.flatMap { lines(for: choices[$0], label: "[\($0 - first + 1)]", width: width) }
            + [(text: "  " + keys + place, ink: .faint)]
    }

    /// Returns the lines for one edition: its title and authors, what sets it apart from other editions, and what the
    /// library has of it.
    private func lines(for choice: EditionChoice, label: String, width: Int) -> [(text: String, ink: Ink)] {
        let metadata = choice.offer.metadata
        let room = max(30, width - 5)
        let title = [metadata.title, metadata.subtitle].compactMap { $0?.oneLine }.joined(separator: ": ")
        let authors = Edition.displayAuthors(metadata.authorNames).oneLine
        let facts = [
            metadata.publisher, metadata.publishedDateText ?? metadata.publishedDate?.description,
            metadata.format?.rawValue, metadata.pageCount.map { "\($0) pages" }, metadata.language,
            choice.offer.isbn?.hyphenated ?? "no ISBN", metadata.coverURL == nil ? nil : "cover",
            choice.source?.displayName,
        ].compactMap { $0?.oneLine }
        var lines: [(text: String, ink: Ink)] = [
            ("\(label.padded(3)) \("\(title) · \(authors)".fitted(room))", .strong)
        ]
        lines += facts.joined(separator: " · ").wrapped(room).map { ("    " + $0, .faint) }
        if let owned = choice.owned {
            lines.append(("    " + "You have this book: \(owned.status)".fitted(room), .owned))
        } else if let known = choice.copies.first {
            lines.append(("    " + "This book is \(known.status)".fitted(room), .owned))
        }
        if let other = choice.others.first { lines.append(("    " + other.otherEditionText.fitted(room), .owned)) }
        return lines
    }
}

extension EditionList {
    /// Prints all editions, each with its number.
    package func show(width: Int = terminalSize().columns) {
        for place in choices.indices { Self.draw(lines(for: choices[place], label: "\(place + 1)", width: width)) }
    }

    /// Shows nine editions at a time, until the person presses the digit of one.
    ///
    /// - Returns: the place of the edition in the list; `nil` if the person takes none.
    package mutating func choose(with keyboard: Keyboard) async -> Int? {
        draw()
        for await press in keyboard.presses {
            switch self.press(press.key) {
            case .taken(let place): return place
            case .cancelled: return nil
            case .turned: draw()
            case .choosing: if press.key == .resumed { draw() }
            }
        }
        return nil
    }

    /// Prints the editions that are shown, and the keys.
    func draw() { Self.draw(lines(width: terminalSize().columns)) }

    private static func draw(_ lines: [(text: String, ink: Ink)]) {
        for line in lines { Output.shared.printLine(Output.shared.style.paint(line.text, line.ink)) }
    }
}

extension Book {
    /// The message that the person owns this edition of a work, when another one is in hand.
    var otherEditionText: String { "You own another edition: \(editionFacts.oneLine), \(status)" }
}

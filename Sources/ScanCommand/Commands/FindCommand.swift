import ArgumentParser
import Bookplate
import Foundation
import Capture
import Decoder
import Library
import PrintedText
import Station
import SystemPackage
import Terminal

struct FindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find a book by its title, and save the edition that you choose.",
        discussion: """
            For books without a bar code. Asks the offline index, Open Library, Google
            Books and the catalogue of your language, and lists the editions, the best
            first. Press the number of one to save it, or give it with --take.

            --language is a code of ISO 639-1 such as de. By default, it is the language
            of this system. Of the catalogues, dnb answers for de, bnf for fr, bn for pl,
            and libris for sv.

              scan find "die welt von gestern" --author zweig
              scan find solaris --take 2 --shelf Attic
              scan find solaris --json --offline
              scan find --image title-page.jpg

            --image reads a photo with tesseract (apt install tesseract-ocr). At a
            terminal, you can correct the words before they are searched for.
            """)

    @Argument(help: ArgumentHelp("Words of the title.", valueName: "title")) var words: [String] = []
    @Option(help: ArgumentHelp("Words of the author's name.", valueName: "name"), completion: .values(.author))
    var author: String?
    @Option(
        help: ArgumentHelp(
            "A photo of the title page or the cover, whose largest print is the title.", valueName: "file"),
        completion: .photos)
    var image: String?
    @Option(
        help: ArgumentHelp("Your language, for the national catalogue.", valueName: "code"),
        completion: .values(.language)) var language: String?
    @Option(help: ArgumentHelp("Save the edition with this number.", valueName: "number")) var take: Int?
    @Flag(help: "Save another copy if you already own the book.") var anotherCopy = false
    @OptionGroup var preset: PresetOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if words.isEmpty, image == nil { throw ValidationError("Give words of the title, or a photo with --image.") }
        if let language, language.count != 2 || !language.allSatisfy({ $0.isASCII && $0.isLetter }) {
            throw ValidationError("--language must be a code of two letters, such as de.")
        }
        if let take, take < 1 { throw ValidationError("--take must be 1 or more.") }
        if !words.isEmpty, image != nil { throw ValidationError("Use either words of the title or --image.") }
    }

    func run() async throws {
        let keyboard = output.json || take != nil ? nil : Keyboard.open()
        defer { keyboard?.close() }
        guard let query = try await query(keyboard) else { return }
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.openExistingLibrary()
        let finder = wiring.titleFinder(library, wiring.lookup(library))
        if !output.json { Output.shared.showStatus("  searching …") }
        let (answer, choices) = try await finder.find(query, language: language?.lowercased())
        Output.shared.showStatus("")
        if let take {
            guard choices.indices.contains(take - 1) else {
                try report(answer)
                throw CommandError(.usage, "there is no edition \(take); \(counted(choices.count, "edition")) found.")
            }
            return try await save(choices[take - 1], finder, library, wiring)
        }
        if output.json {
            Output.shared.printLine(answer.json(query, choices))
        } else if !choices.isEmpty, let keyboard {
            showFailures(answer)
            var list = EditionList(choices, rows: terminalSize().rows)
            guard let chosen = await list.choose(with: keyboard) else { return }
            return try await save(choices[chosen], finder, library, wiring)
        } else {
            EditionList(choices).show()
            showFailures(answer)
        }
        try report(answer)
    }

    /// Reads the print in one photo, unless a bar code in it is an ISBN.
    private func page(_ image: String) throws -> PrintedPage {
        let path = FilePath(argument: image)
        guard !PhotoFolder.isFolder(path) else {
            throw CommandError(.usage, "\(image.printable) is a folder. Give one photo with --image.")
        }
        let tesseract = try Tesseract(inFolders: ProcessInfo.processInfo.environment["PATH"] ?? "")
        do {
            let photo = try (image == "-" ? PhotoInput.standardInput : .file(path, name: image)).open()
            var decoder = try PhotoReader()
            if let page = try PrintedPage(barcodes: decoder.decode(photo)) { return page }
            let page = try tesseract.read(OCRImage(photo))
            if photo.isDamaged {
                Output.shared.printNotice("The photo is damaged, so only a part of it could be read.")
            }
            return page
        } catch let error as PhotoError {
            throw CommandError(.unreadable, "\(error)")
        }
    }

    /// Returns the words to search for, as they were given or read from the photo.
    ///
    /// - Returns: nil if the person cancels.
    private func query(_ keyboard: Keyboard?) async throws -> TitleQuery? {
        var (title, author) = (words.joined(separator: " "), author)
        if let image {
            let page = try page(image)
            title = page.title
            if let isbn = page.isbns.first?.isbn {
                let advice = "photo shows the ISBN \(isbn.hyphenated). To save it, run 'scan --isbn \(isbn.digits)'."
                guard keyboard != nil, !title.isEmpty else { throw CommandError(.nothing, "the \(advice)") }
                Output.shared.printNotice("The \(advice)")
            } else if title.isEmpty {
                Output.shared.printNotice("No words can be read in the photo. Type the title.")
            }
            let others = page.otherLines.prefix(3).map(\.oneLine)
            if !others.isEmpty { Output.shared.printNotice("Also printed: \(others.joined(separator: " · "))") }
            if let keyboard {
                guard let typed = await LineEditor.edit(title, label: "Title", with: keyboard),
                    let name = await LineEditor.edit(author ?? "", label: "Author", with: keyboard)
                else { return nil }
                (title, author) = (typed, name)
            } else if !title.isEmpty {
                Output.shared.printNotice("Searching for \"\(title.oneLine)\".")
            }
        }
        let number = TypedNumber(text: title, origin: .typed)
        if number.isBook {
            throw CommandError(.usage, "\(title.oneLine) is an ISBN. Run 'scan --isbn \(title.oneLine)'.")
        }
        guard let query = TitleQuery(title: title, author: author) else {
            throw image == nil
                ? CommandError(.usage, "the title has no letter or digit to search for.")
                : CommandError(
                    .nothing, "no words can be read in \(image?.printable ?? ""). Type them: 'scan find \"title\"'.")
        }
        return query
    }

    /// Prints the sources that failed or were left out, because they may know other editions.
    private func showFailures(_ answer: TitleAnswer) {
        guard !answer.offers.isEmpty else { return }
        for failure in answer.failures {
            Output.shared.printNotice("  not answered: \(failure.error.description.oneLine)")
        }
    }

    /// Ends with the status for an answer without editions.
    private func report(_ answer: TitleAnswer) throws {
        guard let reason = answer.reason else { return }
        // The reason lists the sources itself if none was asked.
        if !output.json, !answer.asked.isEmpty || !answer.failures.isEmpty {
            for skipped in answer.notAsked {
                Output.shared.printNotice("  not queried: \(skipped.source.displayName) (\(skipped.reason.oneLine))")
            }
        }
        let isOver = answer.outcome == .notFound
        let error = CommandError(
            isOver ? .nothing : .unavailable,
            isOver ? "\(reason). Try fewer words, or enter it with 'scan library add'." : "\(reason).")
        guard output.json else { throw error }
        throw ExitCode(error.status.rawValue)
    }

    /// - Parameter library: the library, if there is one already.
    private func save(
        _ choice: EditionChoice, _ finder: TitleFinder, _ library: LibraryFile?, _ wiring: Wiring
    ) async throws {
        let confirmed = try Confirmed(
            enteredBy: .form, isbn: choice.offer.isbn, metadata: await finder.record(of: choice.offer),
            preset: preset.preset(), anotherCopy: anotherCopy)
        let library = try library ?? wiring.openLibrary()
        // The library recognises an owned edition by its ISBN only.
        if !anotherCopy, choice.offer.isbn == nil,
            let owned = try await finder.ownedCopy(of: choice.offer)
        {
            return try await LibraryAddCommand.show(.owned(owned), in: library, output)
        }
        let result = try await library.enter(confirmed, notes: [], dates: DateEdit(), at: Date()) { _ in }
        try await LibraryAddCommand.show(result, in: library, output)
        let report = ExitReport()
        await wiring.catchUp(library, saved: 1, isAttended: true, report)
        try report.end()
    }
}

import ArgumentParser
import Bookplate
import Decoder
import Foundation

struct DecodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Read the bar codes of photos, and save nothing.",
        discussion: """
            Reads JPEG, PNG and WebP (HEIC where libheif is installed), folders with
            everything below them, and - for standard input. All EAN-13 codes of a
            photo are listed in reading order with what they stand for.

            Books before the 1980s have no bar code; --ocr reads their printed ISBN
            or SBN where tesseract is installed (apt install tesseract-ocr). Only
            numbers with the right check digit are told, and always as read from
            print: compare them with the book.

              scan decode cover.jpg
              scan decode --json photos/
              scan decode --ocr imprint.jpg

            --explain tells which stage of the decoder looked at how many places, read
            what, and what it cost in CPU time; docs/decoding.md says what they do.
            --picture draws that on the photo, for a browser to show.

              scan decode --explain --picture seen.svg cover.jpg
            """)

    @Argument(help: ArgumentHelp("Photos, folders, or -.", valueName: "file"))
    var files: [String]

    @Flag(help: "Tell what each stage of the decoder read, and what it cost.")
    var explain = false

    @Option(help: ArgumentHelp("Draw what the decoder saw in one photo, as SVG.", valueName: "file"))
    var picture: String?

    @Flag(help: "Replace a picture that is there already.")
    var force = false

    @OptionGroup var print: PrintOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if explain, output.json { throw ValidationError("--explain is for people; --json has no place for it.") }
        if let picture, picture.isEmpty || picture == "-" {
            throw ValidationError("--picture names the file to write, such as seen.svg.")
        }
        if force, picture == nil { throw ValidationError("--force goes with --picture.") }
        if files.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be named only once.") }
    }

    func run() async throws {
        let report = ExitReport()
        let (inputs, problems) = PhotoInput.expand(files)
        let unreadable = problems.map { PhotoResult(name: $0.photo, error: "\($0)", isUnreadable: true) }
        let bar = ProgressBar("photos", total: inputs.count)
        var foundISBN = false
        func take(_ reading: PhotoResult) {
            if reading.isUnreadable { report.note(.unreadable) }
            if reading.hasISBN || !reading.printed.isEmpty { foundISBN = true }
            if reading.printTrouble != nil { report.note(.unavailable) }
            if output.json { Output.shared.line(Self.json(reading)) } else { show(reading) }
        }
        for reading in unreadable { take(reading) }
        let drawing = try picture.map { try file(forPicture: $0, of: inputs) }
        let reader = PhotoBatchReader(
            withThumbnails: false, isExplaining: explain || picture != nil, withPicture: picture != nil,
            print: print.reader())
        for await reading in reader.read(inputs) {
            bar.advance()
            take(reading)
            if let drawing, let photo = reading.picture, let explanation = reading.explanation {
                try drawing.write(
                    AnnotatedPicture(photo: photo, explanation: explanation, symbols: reading.symbols).svg)
                try drawing.finish()
            }
        }
        bar.finish()
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.complain("there is no photo in \(files.joined(separator: ", ").printable).")
        }
        if !foundISBN { report.note(.nothing) }
        try report.end()
    }

    private func file(forPicture path: String, of inputs: [PhotoInput]) throws -> OutputFile {
        guard inputs.count == 1, let photo = inputs.first else {
            throw CommandError(
                .usage,
                "--picture draws on one photo, and \(files.joined(separator: ", ").printable) has \(inputs.count); name one of them."
            )
        }
        var (facts, other) = (stat(), stat())
        if stat(photo.name, &facts) == 0, stat(path, &other) == 0, facts.st_dev == other.st_dev,
            facts.st_ino == other.st_ino
        {
            throw CommandError(.usage, "\(path.printable) is the photo itself; name another file for the picture.")
        }
        return try OutputFile(path, mayReplace: force)
    }

    private func show(_ reading: PhotoResult) {
        if let error = reading.error {
            Output.shared.complain((reading.isUnreadable ? error : "\(reading.name): \(error).").oneLine)
        }
        for symbol in reading.symbols {
            let addon = symbol.addon.map { " +\($0)" } ?? ""
            let number = (try? symbol.isbn())?.hyphenated ?? symbol.payload
            Output.shared.line("\(reading.name.oneLine): \(symbol.kind.rawValue) \(number)\(addon)")
        }
        print.show(reading)
        if explain {
            // The costs below each other.
            for step in reading.explanation?.steps ?? [] where !step.places.isEmpty {
                let line = step.line()
                Output.shared.line(String(repeating: " ", count: max(0, 8 - line.prefix { $0 != " " }.count)) + line)
            }
        }
        if reading.symbols.isEmpty, reading.printed.isEmpty, !reading.hasTrouble {
            let nothing = reading.isPrintRead ? "no bar code and no printed ISBN" : "no bar code"
            Output.shared.line("\(reading.name.oneLine): \(nothing) found")
        }
    }

    static func json(_ reading: PhotoResult) -> JSONValue {
        [
            "image": .string(reading.name), "symbols": .array(reading.symbols.map(json)),
            "printed": .array(reading.printed.map(\.json)), "error": JSONValue(reading.whatIsMissing),
        ]
    }

    static func json(_ symbol: Symbol) -> JSONValue {
        [
            "payload": .string(symbol.payload), "kind": .string(symbol.kind.rawValue),
            "isbn13": JSONValue((try? symbol.isbn())?.digits), "addon": JSONValue(symbol.addon),
            "quality": .integer(symbol.quality),
            "corners": .array(
                symbol.corners.all.map { [.number(($0.x * 10).rounded() / 10), .number(($0.y * 10).rounded() / 10)] }),
        ]
    }
}

import ArgumentParser
import Bookplate
import Decoder
import Foundation
import SystemPackage
import Terminal

struct DecodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Read the bar codes in photos, without saving anything.",
        discussion: """
            Reads JPEG, PNG and WebP (HEIC if libheif is installed), folders and their
            subfolders, and standard input (-). Lists every EAN-13 code in a photo, in
            reading order, with its kind: isbn, ismn, issn, upc or ean13.

            Books from before the 1980s have no bar code. --ocr reads their printed
            ISBN or SBN if tesseract is installed (apt install tesseract-ocr). Only
            numbers with the right check digit are listed. They are marked as read from
            print, so that you can compare them with the book.

              scan decode cover.jpg
              scan decode --json photos/
              scan decode --ocr imprint.jpg

            --explain shows for each stage of the decoder how many places it examined,
            what it read, and how much CPU time it took. The stages are described in
            docs/decoding.md. --picture draws these results on the photo.

              scan decode --explain --picture seen.svg cover.jpg
            """)

    @Argument(
        help: ArgumentHelp("Photos, folders of photos, or - for standard input.", valueName: "file"),
        completion: .photos)
    var files: [String]

    @Flag(help: "Show which codes each stage of the decoder read, and its CPU time.")
    var explain = false

    @Option(
        help: ArgumentHelp("Write an SVG picture that shows what the decoder found in one photo.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var picture: String?

    @Flag(help: "Replace the file of --picture if it exists.")
    var force = false

    @OptionGroup var print: PrintOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if explain, output.json {
            throw ValidationError("--explain prints text for people, so it cannot be used with --json.")
        }
        if let picture, picture.isEmpty || picture == "-" {
            throw ValidationError("--picture must be the name of the file to write, such as seen.svg.")
        }
        if force, picture == nil { throw ValidationError("--force works only with --picture.") }
        if files.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input (-) can be given only once.") }
    }

    func run() async throws {
        let report = ExitReport()
        let (inputs, problems) = PhotoInput.expand(files)
        let unreadable = problems.map { PhotoResult(name: $0.photo, error: "\($0)", isUnreadable: true) }
        let bar = ProgressBar("photos", total: inputs.count)
        var foundISBN = false
        func handle(_ result: PhotoResult) {
            if result.isUnreadable { report.record(.unreadable) }
            if result.hasISBN || !result.printed.isEmpty { foundISBN = true }
            if result.printError != nil { report.record(.unavailable) }
            if output.json { Output.shared.printLine(Self.json(result)) } else { show(result) }
        }
        for result in unreadable { handle(result) }
        let drawing = try picture.map { try file(forPicture: $0, of: inputs) }
        let reader = PhotoBatchReader(
            withThumbnails: false, isExplaining: explain || picture != nil, withPicture: picture != nil,
            print: print.reader())
        for await result in reader.read(inputs) {
            bar.advance()
            handle(result)
            if let drawing, let photo = result.picture, let explanation = result.explanation {
                try drawing.write(
                    AnnotatedPicture(photo: photo, explanation: explanation, symbols: result.symbols).svg)
                try drawing.finish()
            }
        }
        bar.finish()
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.printError("no photo found in \(files.joined(separator: ", ").printable).")
        }
        if !foundISBN { report.record(.nothing) }
        try report.end()
    }

    private func file(forPicture path: String, of inputs: [PhotoInput]) throws -> OutputFile {
        guard inputs.count == 1, let photo = inputs.first else {
            throw CommandError(
                .usage,
                "--picture draws on one photo, but there are \(inputs.count) in \(files.joined(separator: ", ").printable). Give only one photo."
            )
        }
        // If one of them does not exist, they are not the same file.
        if case .file(let photo, _) = photo, let facts = try? photo.stat(), let other = try? FilePath(path).stat(),
            facts.deviceID == other.deviceID, facts.inode == other.inode
        {
            throw CommandError(.usage, "\(path.printable) is the photo itself. Choose another file for the picture.")
        }
        return try OutputFile(path, mayReplace: force)
    }

    private func show(_ result: PhotoResult) {
        if let error = result.error {
            Output.shared.printError((result.isUnreadable ? error : "\(result.name): \(error).").oneLine)
        }
        for symbol in result.symbols {
            let addon = symbol.addon.map { " +\($0)" } ?? ""
            let number = (try? symbol.isbn())?.hyphenated ?? symbol.payload
            Output.shared.printLine("\(result.name.oneLine): \(symbol.kind.rawValue) \(number)\(addon)")
        }
        print.show(result)
        if explain {
            // The spaces right-align the times.
            for step in result.explanation?.steps ?? [] where !step.places.isEmpty {
                let line = step.line()
                Output.shared.printLine(
                    String(repeating: " ", count: max(0, 8 - line.prefix { $0 != " " }.count)) + line)
            }
        }
        if result.symbols.isEmpty, result.printed.isEmpty, !result.hasError {
            let nothing = result.isPrintRead ? "no bar code and no printed ISBN" : "no bar code"
            Output.shared.printLine("\(result.name.oneLine): \(nothing) found")
        }
    }

    static func json(_ result: PhotoResult) -> JSONValue {
        [
            "image": .string(result.name), "symbols": .array(result.symbols.map(json)),
            "printed": .array(result.printed.map(\.json)), "error": JSONValue(result.errorText),
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

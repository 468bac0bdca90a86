import Bookplate
import Foundation
import Processes
import Synchronization

/// Reads printed text, above all ISBNs, using Debian's tesseract. Tesseract is a separate program, which may be
/// missing, crash or hang.
///
/// Runs one process at a time for all callers, because each process takes up to a hundred megabytes of memory.
public final class Tesseract: Sendable {
    /// The passes over a picture, which are run one after the other until an ISBN is found. In page mode, tesseract
    /// reads upright lines and lines that run downwards. In sparse mode, it also reads text in any other direction and
    /// isolated text in a corner, but takes twice as long.
    private static let passes: [(turn: Orientation, mode: String)] = [
        (.up, page), (.right, page), (.up, sparse), (.right, sparse),
    ]
    /// tesseract's page segmentation modes: fully automatic, and sparse text with orientation detection.
    private static let (page, sparse) = ("3", "12")
    /// The maximum size of tesseract's output, in bytes. It has room for tens of thousands of words.
    private static let limit = 4 << 20

    private let path: String
    private let timeout: Duration
    private let lock = Mutex(())

    /// - Parameters:
    ///   - path: the path of the program.
    ///   - timeout: the time limit for one pass over a picture.
    public init(path: String, timeout: Duration = .seconds(30)) { (self.path, self.timeout) = (path, timeout) }

    /// Finds the program in the same way as a shell.
    ///
    /// - Parameter folders: the value of PATH. Relative folders are ignored.
    /// - Throws: ``TesseractError/notInstalled``
    public convenience init(inFolders folders: String, timeout: Duration = .seconds(30)) throws(TesseractError) {
        let paths = folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/tesseract" }
        var isFolder: ObjCBool = false
        let path = paths.first {
            FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder) && !isFolder.boolValue
                && access($0, X_OK) == 0
        }
        guard let path else { throw .notInstalled }
        self.init(path: path, timeout: timeout)
    }

    /// Reads the print in a picture. Blocks until tesseract has finished.
    ///
    /// - Returns: the ISBNs, and the lines of the pass that read most. Several passes read the picture in different
    ///   ways, until one of them finds an ISBN.
    /// - Throws: ``TesseractError``
    public func read(_ image: OCRImage) throws(TesseractError) -> PrintedPage {
        var page = PrintedPage()
        for pass in Self.passes {
            let words = try words(of: image.turned(by: pass.turn), mode: pass.mode)
            let lines = words.printedLines
            if lines.letters > page.lines.letters { page.lines = lines }
            page.isbns = PrintedISBN.all(in: words.text)
            if !page.isbns.isEmpty { return page }
        }
        return page
    }

    /// Returns the words that tesseract reads in one pass over the image.
    private func words(of image: OCRImage, mode: String) throws(TesseractError) -> [WordTable.Word] {
        let command = ChildProcess.Command(
            path: path,
            // Tesseract reads more if the resolution is set to 300 pixels per inch than if it estimates the resolution.
            // Request a table as the answer, because the form of a table can be checked.
            arguments: [
                "tesseract", "stdin", "stdout", "--psm", mode, "--dpi", "300", "-c", "tessedit_create_tsv=1",
            ],
            environment: ["LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"] + Self.inheritedEnvironment)
        let outcome = try lock.withLock { _ throws(TesseractError) in
            do throws(ProcessError) {
                return try ChildProcess.run(command, input: image.pgm, within: timeout, limit: Self.limit)
            } catch {
                throw .cannotStart(reason: error.description)
            }
        }
        switch outcome {
        case .answered(let answer, _, .exited(0)): return try WordTable.words(answer)
        case .answered(_, let standardError, .exited(let status)):
            throw .failed(status: status, standardError: Self.lastLine(of: standardError))
        case .answered(_, _, .signalled(let signal)): throw .crashed(signal: signal)
        case .tooLong: throw .tooLong(timeout)
        case .tooMuch: throw .tooMuch(limit: Self.limit)
        }
    }

    /// The environment variables that tesseract inherits: the folder of its language data, if that is not the default
    /// one, and PATH, which a wrapper script may need.
    private static var inheritedEnvironment: [String] {
        let environment = ProcessInfo.processInfo.environment
        return ["TESSDATA_PREFIX", "PATH"].compactMap { name in environment[name].map { "\(name)=\($0)" } }
    }

    private static func lastLine(of standardError: [UInt8]) -> String {
        let lines = String(decoding: standardError, as: UTF8.self).split(whereSeparator: \.isNewline)
        return String((lines.last ?? "").prefix(200))
    }
}

/// The reason why the printed text of a picture could not be read. A picture without text, or without an ISBN in it, is
/// not an error.
public enum TesseractError: Error, Hashable, Sendable {
    /// There is no `tesseract` in the folders of PATH.
    case notInstalled
    case cannotStart(reason: String)
    /// Tesseract took longer than the given time and was killed.
    case tooLong(Duration)
    /// Tesseract's output was longer than `limit` bytes, and tesseract was killed.
    case tooMuch(limit: Int)
    /// Tesseract was ended by the given signal.
    case crashed(signal: Int32)
    case failed(status: Int32, standardError: String)
    /// Tesseract ended normally, but its output cannot be parsed.
    case malformedAnswer
}

extension TesseractError: CustomStringConvertible {
    /// The error as one sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .notInstalled:
            "printed text was not read because tesseract is not installed (to install it, run 'apt install tesseract-ocr')"
        case .cannotStart(let reason): "printed text was not read because tesseract could not be started: \(reason)"
        case .tooLong(let limit):
            "printed text was not read because tesseract took longer than \(limit.formattedSeconds) and was stopped"
        case .tooMuch(let limit):
            "printed text was not read because tesseract's output was larger than \(limit >> 20) MiB"
        case .crashed(let signal): "printed text was not read because tesseract crashed (signal \(signal))"
        case .failed(let status, let standardError):
            "printed text was not read because tesseract ended with exit code \(status)"
                + (standardError.isEmpty ? "" : ": \(standardError)")
        case .malformedAnswer: "printed text was not read because tesseract's output was not a table of words"
        }
    }
}

extension [PrintedLine] {
    /// The number of letters in all lines.
    fileprivate var letters: Int { reduce(0) { $0 + $1.text.count(where: \.isLetter) } }
}

extension Duration {
    fileprivate var formattedSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

import Bookplate
import Foundation
import Processes
import Synchronization

/// Reads ISBNs that are printed as text, with Debian's tesseract. This is a separate program, which may be missing,
/// crash or hang.
///
/// Runs one process at a time for all callers: each takes up to a hundred megabytes of memory.
public final class Tesseract: Sendable {
    /// The long side of the picture in pixels. The imprint of a page that fills the photo is then about 20 pixels high;
    /// more pixels read no more of real photos and take longer.
    static let longSide = 2400
    /// The passes, run one after the other until an ISBN is found. As a page, tesseract reads lines that stand upright
    /// or run downwards; as sparse text, it reads any direction and text alone in a corner, in twice the time.
    private static let passes: [(turn: Orientation, mode: String)] = [
        (.up, page), (.right, page), (.up, sparse), (.right, sparse),
    ]
    /// tesseract's page segmentation modes: fully automatic, and sparse text with orientation detection.
    private static let (page, sparse) = ("3", "12")
    /// The largest answer in bytes: tens of thousands of words.
    private static let limit = 4 << 20

    private let path: String
    private let timeout: Duration
    private let lock = Mutex(())

    /// - Parameters:
    ///   - path: the path of the program.
    ///   - timeout: the time for one pass over a picture.
    public init(path: String, timeout: Duration = .seconds(30)) { (self.path, self.timeout) = (path, timeout) }

    /// Finds the program as the shell would.
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

    /// Reads the printed ISBNs of a picture. Blocks until done.
    ///
    /// - Returns: the printed ISBNs of the first pass that finds any; empty if there are none.
    /// - Throws: ``TesseractError``, or the picture's own error if its data is damaged.
    public func isbns(in picture: some Picture) throws -> [PrintedISBN] {
        let page = OCRImage(try picture.luma(atLeast: Self.longSide), longSide: Self.longSide)
            .turned(by: picture.orientation)
        for pass in Self.passes {
            let found = PrintedISBN.all(in: try text(of: page.turned(by: pass.turn), mode: pass.mode))
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns the text that one pass reads.
    private func text(of page: OCRImage, mode: String) throws(TesseractError) -> String {
        let command = ChildProcess.Command(
            path: path,
            // With 300 pixels per inch given, it reads more than with its own guess. It answers with a table, which can
            // be checked.
            arguments: [
                "tesseract", "stdin", "stdout", "--psm", mode, "--dpi", "300", "-c", "tessedit_create_tsv=1",
            ],
            environment: ["LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"] + Self.inheritedEnvironment)
        let outcome = try lock.withLock { _ throws(TesseractError) in
            do throws(ProcessError) {
                return try ChildProcess.run(command, input: page.pgm, within: timeout, limit: Self.limit)
            } catch {
                throw .cannotStart(reason: error.description)
            }
        }
        switch outcome {
        case .answered(let answer, _, .exited(0)): return try WordTable.text(answer)
        case .answered(_, let standardError, .exited(let status)):
            throw .failed(status: status, standardError: Self.lastLine(of: standardError))
        case .answered(_, _, .signalled(let signal)): throw .crashed(signal: signal)
        case .tooLong: throw .tooLong(timeout)
        case .tooMuch: throw .tooMuch(limit: Self.limit)
        }
    }

    /// The variables it inherits: the folder of its languages, if it is not the default one, and PATH for a wrapper
    /// script.
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
    /// It took longer than this and was killed.
    case tooLong(Duration)
    /// Its answer was longer than this and it was killed.
    case tooMuch(limit: Int)
    /// It was ended by this signal.
    case crashed(signal: Int32)
    case failed(status: Int32, standardError: String)
    /// It ended normally, but its answer cannot be parsed.
    case malformedAnswer
}

extension TesseractError: CustomStringConvertible {
    /// The error as one sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .notInstalled:
            "printed text was not read, because tesseract is not installed (apt install tesseract-ocr)"
        case .cannotStart(let reason): "printed text was not read, because tesseract does not start: \(reason)"
        case .tooLong(let limit):
            "printed text was not read: tesseract took longer than \(limit.formattedSeconds) and was stopped"
        case .tooMuch(let limit): "printed text was not read: tesseract answered with more than \(limit >> 20) MiB"
        case .crashed(let signal): "printed text was not read: tesseract crashed (signal \(signal))"
        case .failed(let status, let standardError):
            "printed text was not read: tesseract ended with \(status)"
                + (standardError.isEmpty ? "" : ": \(standardError)")
        case .malformedAnswer: "printed text was not read: tesseract's answer is not a table of words"
        }
    }
}

extension Duration {
    fileprivate var formattedSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

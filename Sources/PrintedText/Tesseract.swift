import Bookplate
import Foundation
import Processes
import Synchronization

/// Reads the ISBNs that are printed as text, with Debian's tesseract: a program of its own, which may be missing, crash or hang.
///
/// One at a time, whoever asks: it takes up to a hundred megabytes of memory.
public final class Tesseract: Sendable {
    /// Pixels of the long side at which it looks: the imprint of a page that fills the photo is about 20 pixels high then. Of real
    /// photos more pixels read no more and take longer.
    static let longSide = 2400
    /// One after the other, until an ISBN is found. As a page, lines are read that stand upright, and those that run downwards; as
    /// scattered text, whichever way up it is, and what stands alone in a corner, in twice the time.
    private static let looks: [(turn: Orientation, mode: String)] = [
        (.up, page), (.right, page), (.up, scattered), (.right, scattered),
    ]
    /// tesseract's page segmentation modes: fully automatic, and sparse text with the detection of its orientation.
    private static let (page, scattered) = ("3", "12")
    /// Bytes of an answer: tens of thousands of words.
    private static let limit = 4 << 20

    private let path: String
    private let patience: Duration
    private let turn = Mutex(())

    /// - Parameters:
    ///   - path: of the program.
    ///   - patience: for one look at a picture.
    public init(path: String, patience: Duration = .seconds(30)) { (self.path, self.patience) = (path, patience) }

    /// Looks for it where the shell would.
    ///
    /// - Parameter folders: the value of PATH. Folders that are not named from the root are passed over.
    /// - Throws: ``TesseractError/notInstalled``
    public convenience init(inFolders folders: String, patience: Duration = .seconds(30)) throws(TesseractError) {
        let places = folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/tesseract" }
        var isFolder: ObjCBool = false
        let path = places.first {
            FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder) && !isFolder.boolValue
                && access($0, X_OK) == 0
        }
        guard let path else { throw .notInstalled }
        self.init(path: path, patience: patience)
    }

    /// Blocks until it has looked.
    ///
    /// - Returns: the printed ISBNs of the first look that shows any; empty when there is none.
    /// - Throws: ``TesseractError``, or the picture's own error when its data is damaged.
    public func isbns(in picture: some Picture) throws -> [PrintedISBN] {
        let page = OCRImage(try picture.luma(atLeast: Self.longSide), longSide: Self.longSide)
            .turned(by: picture.orientation)
        for look in Self.looks {
            let found = PrintedISBN.all(in: try text(of: page.turned(by: look.turn), mode: look.mode))
            if !found.isEmpty { return found }
        }
        return []
    }

    /// What one look reads.
    private func text(of page: OCRImage, mode: String) throws(TesseractError) -> String {
        let command = ChildProcess.Command(
            path: path,
            // Told 300 pixels an inch, it reads more than when it guesses. A table, because a text can be anything.
            arguments: [
                "tesseract", "stdin", "stdout", "--psm", mode, "--dpi", "300", "-c", "tessedit_create_tsv=1",
            ],
            environment: ["LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"] + Self.handedOn)
        let ending = try turn.withLock { _ throws(TesseractError) in
            do throws(ProcessError) {
                return try ChildProcess.run(command, input: page.pgm, within: patience, limit: Self.limit)
            } catch {
                throw .cannotStart(reason: error.description)
            }
        }
        switch ending {
        case .answered(let answer, _, .exited(0)): return try WordTable.text(answer)
        case .answered(_, let standardError, .exited(let status)):
            throw .failed(status: status, standardError: Self.lastLine(of: standardError))
        case .answered(_, _, .signalled(let signal)): throw .crashed(signal: signal)
        case .tooLong: throw .tooLong(patience)
        case .tooMuch: throw .tooMuch(limit: Self.limit)
        }
    }

    /// Where its languages are kept, when not where they were installed; and where a wrapper finds what it wraps.
    private static var handedOn: [String] {
        let environment = ProcessInfo.processInfo.environment
        return ["TESSDATA_PREFIX", "PATH"].compactMap { name in environment[name].map { "\(name)=\($0)" } }
    }

    private static func lastLine(of standardError: [UInt8]) -> String {
        let lines = String(decoding: standardError, as: UTF8.self).split(whereSeparator: \.isNewline)
        return String((lines.last ?? "").prefix(200))
    }
}

/// Why the print of a picture could not be read. A picture without print, or without an ISBN in it, is none of these.
public enum TesseractError: Error, Hashable, Sendable {
    /// There is no `tesseract` in the folders of PATH.
    case notInstalled
    case cannotStart(reason: String)
    /// It was killed.
    case tooLong(Duration)
    /// It was killed.
    case tooMuch(limit: Int)
    /// By this signal.
    case crashed(signal: Int32)
    case failed(status: Int32, standardError: String)
    /// It ended well, and what it said is no answer.
    case nonsense
}

extension TesseractError: CustomStringConvertible {
    /// One sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .notInstalled:
            "print was not read, because tesseract is not installed (apt install tesseract-ocr)"
        case .cannotStart(let reason): "print was not read, because tesseract does not start: \(reason)"
        case .tooLong(let limit):
            "print was not read: tesseract took longer than \(limit.formattedSeconds) and was stopped"
        case .tooMuch(let limit): "print was not read: tesseract answered with more than \(limit >> 20) MiB"
        case .crashed(let signal): "print was not read: tesseract crashed (signal \(signal))"
        case .failed(let status, let standardError):
            "print was not read: tesseract ended with \(status)" + (standardError.isEmpty ? "" : ": \(standardError)")
        case .nonsense: "print was not read: what tesseract answered is no table of words"
        }
    }
}

extension Duration {
    fileprivate var formattedSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

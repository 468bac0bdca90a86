import ArgumentParser
import Async
import Bookplate
import Capture
import Foundation
import PrintedText
import Terminal

/// The option `--ocr`, with which printed ISBNs are read.
struct PrintOptions: ParsableArguments {
    @Flag(help: "In photos without an ISBN bar code, read the printed ISBN with tesseract.")
    var ocr = false

    /// Returns a function that reads the print in a photo, or `nil` without `--ocr`.
    ///
    /// If tesseract is missing, an error is printed at the first photo that needs it. Photos with a bar code are read
    /// without tesseract.
    func reader() -> (@Sendable (PhotoFile) throws -> PrintedPage)? {
        guard ocr else { return nil }
        do throws(TesseractError) {
            let tesseract = try Tesseract(inFolders: ProcessInfo.processInfo.environment["PATH"] ?? "")
            return { try tesseract.read(OCRImage($0)) }
        } catch {
            let isReported = SharedValue(false)
            return { _ in
                if !isReported.exchange(true) {
                    Output.shared.printError(
                        "tesseract is not installed, so printed ISBNs cannot be read. To install it, run 'apt install tesseract-ocr'."
                    )
                }
                throw error
            }
        }
    }

    /// Shows the ISBNs that were read from printed text, each marked "read from print".
    func show(_ result: PhotoResult) {
        for number in result.printed {
            Output.shared.printLine(
                "\(result.name.oneLine): isbn \(number.isbn.hyphenated) (read from print: \(number.text))")
        }
        // If tesseract is missing, this was reported before.
        if let error = result.printError, error != .notInstalled {
            Output.shared.printError("\(result.name): \(error).".oneLine)
        }
    }
}

extension PhotoResult {
    /// True if an error was printed for this photo.
    var hasError: Bool { error != nil || (printError != nil && printError != .notInstalled) }

    /// The reasons why the photo, or the printed text in it, could not be read completely.
    var errorText: String? {
        let reasons = [error, printError?.description].compactMap { $0 }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension PrintedISBN {
    /// The number as JSON. `corrected` is true if letters were read as the digits that they resemble.
    var json: JSONValue {
        ["isbn13": .string(isbn.digits), "text": .string(text), "corrected": .bool(isCorrected)]
    }
}

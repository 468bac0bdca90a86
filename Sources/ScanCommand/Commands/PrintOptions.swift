import ArgumentParser
import Async
import Bookplate
import Capture
import Foundation
import PrintedText

/// `--ocr`
struct PrintOptions: ParsableArguments {
    @Flag(help: "Read printed ISBNs, with tesseract, in photos without the bar code of a book.")
    var ocr = false

    /// Returns a function that reads the print of a photo, or `nil` without `--ocr`.
    ///
    /// If tesseract is missing, the first photo that needs it prints an error: photos with a bar code are read without it.
    func reader() -> (@Sendable (PhotoFile) throws -> [PrintedISBN])? {
        guard ocr else { return nil }
        do throws(TesseractError) {
            let tesseract = try Tesseract(inFolders: ProcessInfo.processInfo.environment["PATH"] ?? "")
            return { try tesseract.isbns(in: $0) }
        } catch {
            let isReported = SharedValue(false)
            return { _ in
                if !isReported.exchange(true) {
                    Output.shared.complain(
                        "tesseract is not installed, so printed numbers are not read. Install it: apt install tesseract-ocr."
                    )
                }
                throw error
            }
        }
    }

    /// Prints the printed numbers, each marked as read from print.
    func show(_ result: PhotoResult) {
        for number in result.printed {
            Output.shared.line(
                "\(result.name.oneLine): isbn \(number.isbn.hyphenated) (read from print: \(number.text))")
        }
        // A missing tesseract has been reported already.
        if let error = result.printTrouble, error != .notInstalled {
            Output.shared.complain("\(result.name): \(error).".oneLine)
        }
    }
}

extension PhotoResult {
    /// True if an error was printed for this photo.
    var hasError: Bool { error != nil || (printTrouble != nil && printTrouble != .notInstalled) }

    /// The reasons why the photo or its print could not be read, or not completely.
    var errorText: String? {
        let reasons = [error, printTrouble?.description].compactMap { $0 }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension PrintedISBN {
    /// `corrected` is true if letters were read as the digits they resemble.
    var json: JSONValue {
        ["isbn13": .string(isbn.digits), "text": .string(text), "corrected": .bool(isCorrected)]
    }
}

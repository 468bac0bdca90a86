import ArgumentParser
import Async
import Bookplate
import Capture
import Foundation
import PrintedText

/// `--ocr`
struct PrintOptions: ParsableArguments {
    @Flag(help: "Read printed ISBNs, with tesseract, in photos in which no bar code names a book.")
    var ocr = false

    /// Reads the print of a photo; `nil` when nobody asked for it.
    ///
    /// Where tesseract is missing it says so for the first photo that needs it: photos with a bar code are read without it.
    func reader() -> (@Sendable (PhotoFile) throws -> [PrintedISBN])? {
        guard ocr else { return nil }
        do throws(TesseractError) {
            let tesseract = try Tesseract(inFolders: ProcessInfo.processInfo.environment["PATH"] ?? "")
            return { try tesseract.isbns(in: $0) }
        } catch {
            let isTold = SharedValue(false)
            return { _ in
                if !isTold.exchange(true) {
                    Output.shared.complain(
                        "tesseract is not installed, so printed numbers are not read. Install it: apt install tesseract-ocr."
                    )
                }
                throw error
            }
        }
    }

    /// What print said, each number marked as what it is.
    func show(_ reading: PhotoResult) {
        for number in reading.printed {
            Output.shared.line(
                "\(reading.name.oneLine): isbn \(number.isbn.hyphenated) (read from print: \(number.text))")
        }
        // That it is missing was said once.
        if let trouble = reading.printTrouble, trouble != .notInstalled {
            Output.shared.complain("\(reading.name): \(trouble).".oneLine)
        }
    }
}

extension PhotoResult {
    /// Whether a error of its own was made of it.
    var hasTrouble: Bool { error != nil || (printTrouble != nil && printTrouble != .notInstalled) }

    /// Why nothing, or not all, could be read: of the photo, and of its print.
    var whatIsMissing: String? {
        let reasons = [error, printTrouble?.description].compactMap { $0 }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension PrintedISBN {
    /// `corrected` tells that letters were taken for the digits they look like.
    var json: JSONValue {
        ["isbn13": .string(isbn.digits), "text": .string(text), "corrected": .bool(isCorrected)]
    }
}

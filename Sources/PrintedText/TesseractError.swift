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
    case failed(status: Int32, complaint: String)
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
        case .failed(let status, let complaint):
            "print was not read: tesseract ended with \(status)" + (complaint.isEmpty ? "" : ": \(complaint)")
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

import Bookplate
import Foundation
import SystemPackage
import Terminal

/// A text given as an argument, on standard input (with `-`), or in the person's editor (without an argument).
enum EnteredText {
    /// The maximum number of bytes to read, so that reading stops even if the stream is endless. Every text that can be
    /// stored is shorter than this.
    private static let byteLimit = 1 << 20

    /// Returns the text. Its length is not checked here, apart from the limit for reading.
    ///
    /// - Throws: ``CommandError`` if standard input cannot be read, is too long or is not UTF-8.
    static func read(_ argument: String, as what: String) throws -> String {
        guard argument == "-" else { return argument }
        if isatty(STDIN_FILENO) == 1 {
            Output.shared.printNotice("Type the \(what). When you have finished, press Enter and then Control-D.")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= byteLimit {
            let room = min(buffer.count, byteLimit + 1 - bytes.count)
            do {
                let count = try buffer.withUnsafeMutableBytes {
                    try FileDescriptor.standardInput.read(into: .init(rebasing: $0[..<room]))
                }
                if count == 0 { break }
                bytes += buffer[..<count]
            } catch let error as Errno {
                throw CommandError(.unreadable, "cannot read the \(what) from standard input: \(error).")
            }
        }
        guard bytes.count <= byteLimit else {
            throw CommandError(
                .usage, "the \(what) on standard input is larger than 1 MB; the limit is \(TextLimit.note) characters.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.unreadable, "the \(what) on standard input is not valid UTF-8; save it as UTF-8 first.")
        }
        return text
    }

    /// Returns the text that was given, or lets the person write it in an editor. An editor's text that is too long is
    /// shown again, with the reason.
    ///
    /// - Parameters:
    ///   - argument: the argument; nil to open the editor.
    ///   - old: the text to change.
    ///   - place: the end of the sentence that names the text, such as `on "Dune"`.
    /// - Returns: nil if the person left the editor's text empty, or as it was.
    /// - Throws: ``CommandError``.
    static func read(
        _ argument: String?, as what: String, changing old: String = "", _ place: String
    ) throws -> String? {
        if let argument { return try read(argument, as: what) }
        let file = try EditedFile(named: "\(what).txt")
        defer { file.remove() }
        let head = [
            "The \(what) \(place.oneLine): write it below, save, and close the editor. To save nothing, leave it as it is.",
            "These lines at the top, which begin with #, do not belong to it.",
        ]
        var (text, reason) = (old, String?.none)
        while true {
            let comments = head + (reason.map { ["Refused: \($0.oneLine)."] } ?? [])
            let shown = comments.map { "# \($0)\n" }.joined() + "\n" + text.printable + "\n"
            guard let edited = try file.edit(shown) else { return nil }
            let lines = edited.split(separator: "\n", omittingEmptySubsequences: false)
            // A text may begin with a heading of its own.
            text = lines.drop { line in comments.contains { line == "# \($0)" } }.joined(separator: "\n").cleaned
            if text.isEmpty { return nil }
            do throws(TextRefusal) { return try text.checked(as: what, limit: TextLimit.note) } catch {
                reason = "\(error)"
            }
        }
    }
}

import Bookplate
import Foundation
import SystemPackage
import Terminal

/// A text given as an argument or, with `-`, on standard input, such as from an editor or another program.
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
}

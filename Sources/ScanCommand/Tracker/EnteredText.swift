import Bookplate
import Foundation
import Glibc

/// A text that a person gives as an argument, or with `-` on standard input: what an editor or another program writes.
enum EnteredText {
    /// More than any text that is kept, so that a stream without end is not read for ever.
    private static let mostBytes = 1 << 20

    /// - Throws: ``Complaint`` when standard input is no text or has no end in sight; how long the text may be is not
    ///   checked here.
    static func read(_ argument: String, as what: String) throws -> String {
        guard argument == "-" else { return argument }
        if isatty(STDIN_FILENO) == 1 { Output.shared.note("Type the \(what); Control-D on a line of its own ends it.") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= mostBytes {
            let count = Glibc.read(STDIN_FILENO, &buffer, min(buffer.count, mostBytes + 1 - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Complaint(
                    .unreadable, "cannot read the \(what) from standard input: \(String(cString: strerror(errno))).")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= mostBytes else {
            throw Complaint(
                .usage, "the \(what) on standard input is larger than 1 MB; the limit is \(TextLimit.note) characters.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Complaint(.unreadable, "the \(what) on standard input is not valid UTF-8; save it as UTF-8 first.")
        }
        return text
    }
}

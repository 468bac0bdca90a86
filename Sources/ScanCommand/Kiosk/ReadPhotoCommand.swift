import ArgumentParser
import Bookplate
import Capture
import Decoder
import Foundation

/// The kiosk's own: reads one photo from standard input, within limits, and prints what came of it as one line of JSON.
struct ReadPhotoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-photo", abstract: "Read one photo from standard input, with limits, for the kiosk.",
        shouldDisplay: false)

    func run() throws {
        try PhotoChildLimits.apply()
        Output.shared.line(Self.answer())
    }

    private static func answer() -> JSONValue {
        do {
            let photo = try PhotoFile(descriptor: STDIN_FILENO, name: "the photo")
            var decoder = try ZBarDecoder()
            let symbols = try decoder.decode(photo)
            let thumbnail = Data(try photo.thumbnail()).base64EncodedString()
            return [
                "symbols": .array(symbols.map(DecodeCommand.json)), "thumbnail": .string(thumbnail), "error": .null,
            ]
        } catch {
            return ["symbols": [], "thumbnail": .null, "error": .string("\(error)")]
        }
    }
}

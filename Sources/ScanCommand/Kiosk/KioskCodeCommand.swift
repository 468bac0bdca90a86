import ArgumentParser
import Bookplate
import Foundation

struct KioskCodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code", abstract: "Set the access code with which other devices sign in to the kiosk.",
        discussion: """
            Asks for the code twice, without showing it; without a terminal, takes one
            line of standard input. The library keeps a slow hash of it. Every device
            that had signed in has to do so again. Paired stations have tokens of their
            own and stay: scan hub stations lists them, scan hub revoke ends one.

              scan kiosk code
              scan kiosk code --clear                  no other device gets in
            """)

    @Flag(help: "Take the code away: only this machine gets in.")
    var clear = false

    @OptionGroup var places: PathOptions

    func run() async throws {
        let library = try Wiring(settings: places.settings()).openLibrary()
        if clear {
            try await library.setAccessCode(nil, at: Date())
            Output.shared.line("The access code is gone, and every sign-in with it. \(Self.stations)")
            return
        }
        let code = try Self.asked()
        do {
            try await library.setAccessCode(code, at: Date())
        } catch let refusal as AccessCodeRefusal {
            throw CommandError(.usage, refusal.description + ". Nothing was changed.")
        }
        Output.shared.line("The access code is set. Devices that had signed in have to do so again. \(Self.stations)")
    }

    private static let stations =
        "Paired stations stay: 'scan hub stations' lists them, 'scan hub revoke NAME' takes one out."

    /// Twice where it is typed, since nobody sees it.
    private static func asked() throws -> String {
        // A program's input that is empty is a code that is too short.
        guard SecretLine.isTyped else { return SecretLine.read("") ?? "" }
        let answers = try ["Access code: ", "The same again: "].map { question in
            guard let answer = SecretLine.read(question) else {
                throw CommandError(.usage, "no code was entered. Nothing was changed.")
            }
            return answer
        }
        guard answers[0] == answers[1] else {
            throw CommandError(.usage, "the two codes differ. Nothing was changed; try again.")
        }
        return answers[0]
    }
}

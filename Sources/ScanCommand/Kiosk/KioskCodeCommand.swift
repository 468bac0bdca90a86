import ArgumentParser
import Bookplate
import Foundation
import Terminal

struct KioskCodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code", abstract: "Set the access code that other devices need to sign in to the kiosk.",
        discussion: """
            Asks for the code twice, without showing it. Without a terminal, it reads
            one line from standard input. The library stores only a slow hash of the
            code. All devices are signed out and must sign in again. Paired stations
            have their own tokens and stay paired. To list them, run 'scan hub
            stations'. To remove one, run 'scan hub revoke'.

              scan kiosk code
              scan kiosk code --clear                  no other device can sign in
            """)

    @Flag(help: "Remove the code, so that only this machine can use the kiosk.")
    var clear = false

    @OptionGroup var paths: PathOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings(), isForAllReaders: true).openLibrary()
        if clear {
            try await library.setAccessCode(nil, at: Date())
            Output.shared.printLine("The access code was removed, and all devices were signed out. \(Self.stations)")
            return
        }
        let code = try SecretLine.readNew(["Access code: ", "Repeat the code: "], "code")
        do {
            try await library.setAccessCode(code, at: Date())
        } catch let refusal as AccessCodeRefusal {
            throw CommandError(.usage, refusal.description + ". Nothing was changed.")
        }
        Output.shared.printLine("The access code is set. All devices must sign in again. \(Self.stations)")
    }

    private static let stations =
        "Paired stations stay paired. To list them, run 'scan hub stations'. "
        + "To remove one, run 'scan hub revoke NAME'."
}

extension SecretLine {
    /// Reads a new secret. One that is typed is read twice, because it is not shown.
    ///
    /// - Parameters:
    ///   - questions: the two prompts.
    ///   - noun: the word for the secret.
    /// - Throws: ``CommandError`` if nothing is entered, or if the two answers differ.
    static func readNew(_ questions: [String], _ noun: String) throws -> String {
        // If a program sends an empty line, the secret is later refused as too short.
        guard isTyped else { return read("") ?? "" }
        let answers = try questions.map { question in
            guard let answer = read(question) else {
                throw CommandError(.usage, "no \(noun) was entered. Nothing was changed.")
            }
            return answer
        }
        guard answers[0] == answers[1] else {
            throw CommandError(.usage, "the two \(noun)s differ. Nothing was changed; try again.")
        }
        return answers[0]
    }
}

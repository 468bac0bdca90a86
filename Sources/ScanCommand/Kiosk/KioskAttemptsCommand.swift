import ArgumentParser
import Bookplate
import Terminal

struct KioskAttemptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts", abstract: "List the latest uses of the access code, right and wrong.",
        discussion: """
            Lists when and from where somebody signed in or paired a station with the
            access code, or tried to, newest first. The latest \(SignInAttempt.kept) are kept.
            The codes are not stored.

              scan kiosk attempts
              scan kiosk attempts --json     keys: at, address, device, isRight
            """)

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings(), isForAllReaders: true).openExistingLibrary()
        let attempts = try await library?.signInAttempts(limit: SignInAttempt.kept) ?? []
        for attempt in attempts {
            if output.json {
                let line: JSONValue = [
                    "at": .string(attempt.at.rfc3339), "address": .string(attempt.address),
                    "device": .string(attempt.device), "isRight": .bool(attempt.isRight),
                ]
                Output.shared.printLine(line)
            } else {
                let outcome = attempt.isRight ? "accepted" : "wrong code"
                let time = LocalTime.current.dateTime(attempt.at)
                Output.shared.printLine(
                    "\(time)  \(outcome)  \(attempt.address.printable)  \(attempt.device.printable)")
            }
        }
        if attempts.isEmpty, !output.json { Output.shared.printNotice("Nobody has used the access code yet.") }
    }
}

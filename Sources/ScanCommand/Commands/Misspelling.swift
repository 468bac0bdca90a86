import ArgumentParser
import Bookplate
import Capture
import Foundation
import Station
import SystemPackage
import Terminal

/// Suggests the command line that a person probably meant with one that was refused. The commands are those of the
/// configurations.
enum Misspelling {
    /// Returns the error for a command line that could not be parsed, with a suggestion if a command in it is misspelt.
    ///
    /// - Parameters:
    ///   - error: the error of the argument parser.
    ///   - arguments: the command line, without the name of the program.
    static func explain(_ error: any Error, of arguments: [String]) -> any Error {
        // Where the parser expects no word, it refuses the word, or the first option of the command that was meant.
        // These refusals differ from others only in the message.
        let message = Scan.message(for: error)
        guard Scan.exitCode(for: error) == .validationFailure,
            ["nexpected argument", "Unknown option"].contains(where: message.contains),
            let suggestion = suggestion(for: arguments)
        else { return error }
        Output.shared.printNotice("Error: \(suggestion)")
        return ExitCode.validationFailure
    }

    /// Returns the message for words that belong to no option of `scan`, with the command that was probably meant.
    ///
    /// - Parameter strays: the words; at least one.
    static func refusal(of strays: [String]) -> String {
        let first = strays.first ?? ""
        if Scan.subcommand(named: first) != nil { return "The command must come first: scan \(first) …" }
        let problem = "There is no command \"\(first.oneLine.fitted(40))\". "
        let numbers = strays.prefix { TypedNumber(text: $0, origin: .typed).isBook }.map(\.oneLine)
        if !numbers.isEmpty {
            let (them, shown) = (numbers.count == 1 ? "it" : "them", numbers.joined(separator: " "))
            return problem + "To capture \(them), run 'scan --isbn \(shown)'."
        }
        let word = first.contains(" ") ? "\"\(first.oneLine)\"" : first.oneLine
        let type = URL(fileURLWithPath: first).pathExtension.lowercased()
        if PhotoFolder.extensions.contains(type) || PhotoFolder.isFolder(FilePath(argument: first)) {
            return problem + "To capture the books in it, run 'scan --image \(word)'."
        }
        if let suggestion = suggestion(for: strays) { return suggestion }
        if FileManager.default.fileExists(atPath: first) {
            return problem + "To capture the books in a photo, run 'scan --image \(word)'. "
                + "To import books from a file, run 'scan import \(word)'."
        }
        return problem + "To list the commands, run 'scan --help'."
    }

    /// Returns the message about a misspelt command:
    /// `There is no command "library lst". Did you mean 'scan library list'?`
    ///
    /// - Returns: `nil` if the words before the first option name a command, or if no command has a similar name.
    private static func suggestion(for arguments: [String]) -> String? {
        var (command, path) = (Scan.self as any ParsableCommand.Type, ["scan"])
        var words = arguments.prefix { !$0.hasPrefix("-") }[...]
        while let word = words.first, let next = command.subcommand(named: word) {
            command = next
            path.append(word)
            words.removeFirst()
        }
        guard let wrong = words.first, wrong != "help", command.subcommand(near: wrong) != nil else { return nil }
        let given = (path.dropFirst() + [wrong.oneLine.fitted(40)]).joined(separator: " ")
        // What follows may be misspelt as well.
        while let word = words.first, let next = command.subcommand(named: word) ?? command.subcommand(near: word) {
            command = next
            path.append(next._commandName)
            words.removeFirst()
        }
        return "There is no command \"\(given)\". Did you mean '\(path.joined(separator: " "))'? "
            + "To list the commands, run '\(path.dropLast().joined(separator: " ")) --help'."
    }
}

extension ParsableCommand {
    /// Returns the subcommand with a name or an alias.
    static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        for command in shownSubcommands
        where command._commandName == name || command.configuration.aliases.contains(name) {
            return command
        }
        return nil
    }

    /// Returns the subcommand with the most similar name.
    static func subcommand(near name: String) -> (any ParsableCommand.Type)? {
        let names = shownSubcommands.map { $0._commandName }
        guard let nearest = name.nearest(among: names, limit: 1).first else { return nil }
        return subcommand(named: nearest)
    }

    /// The subcommands that the help lists.
    static var shownSubcommands: [any ParsableCommand.Type] {
        configuration.subcommands.filter { $0.configuration.shouldDisplay }
    }
}

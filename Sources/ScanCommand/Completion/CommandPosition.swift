import ArgumentParser
import Foundation

/// An argument of a command, as the argument parser describes it (`_dumpHelp`).
struct ArgumentInfo: Decodable {
    enum Kind: String, Decodable { case positional, option, flag }
    enum Strategy: String, Decodable {
        case `default`, scanningForValue, unconditional, upToNextOption, allRemainingInput, postTerminator
        case allUnrecognized
    }
    enum Completion: Decodable {
        case list(values: [String])
        case file(extensions: [String])
        case directory
        case shellCommand(command: String)
        case custom, customAsync, customDeprecated
    }
    struct Name: Decodable {
        var kind: String
        var name: String

        /// The name as it is typed.
        var text: String { (kind == "long" ? "--" : "-") + name }
    }

    var kind: Kind
    var shouldDisplay: Bool
    var isRepeating: Bool
    var parsingStrategy: Strategy
    var names: [Name]?
    var allValueDescriptions: [String: String]?
    var completionKind: Completion?
    var abstract: String?

    private struct Tool: Decodable {
        struct Command: Decodable { var arguments: [ArgumentInfo]? }
        var command: Command
    }

    /// Returns the arguments of one command.
    ///
    /// The description of the whole program would take ten times the time of a completion. That of a command contains
    /// its subcommands, so this is called only for a command without subcommands, or with a few small ones.
    static func all(of command: any ParsableCommand.Type) throws -> [ArgumentInfo] {
        try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command.arguments ?? []
    }
}

/// The place on the command line at which a word is completed: the command to which the word belongs, and what may
/// stand there.
///
/// This follows the rules of the argument parser. A command line that it would refuse has a place too, because it is
/// not finished yet.
struct CommandPosition {
    /// The command to which the word belongs.
    private(set) var command: any ParsableCommand.Type
    /// The commands that can be meant by the word.
    private(set) var subcommands: [any ParsableCommand.Type] = []
    /// The options and flags that can be meant by the word.
    private(set) var options: [ArgumentInfo] = []
    /// The argument or option whose value the word is; `nil` if there is none.
    private(set) var value: ArgumentInfo?
    /// The part of the word before the value, such as `--shelf=`.
    private(set) var prefix = ""
    /// The part of the value that has been typed.
    private(set) var typed: String
    /// The words before this one that belong to the same positional argument.
    private(set) var earlier: [String] = []
    /// The words of all positional arguments before this word.
    private(set) var positionals: [String] = []
    /// The last value of each option before this word, by the option's first name, such as `--library`.
    private(set) var given: [String: String] = [:]

    /// - Parameters:
    ///   - words: the words between the program and the word to complete.
    ///   - word: the part of the word that has been typed.
    init(root: any ParsableCommand.Type, words: [String], word: String) throws {
        (typed, command) = (word, root)
        let isHelp = words.first == "help"
        var rest = words.dropFirst(isHelp ? 1 : 0)
        while let next = rest.first, let child = command.subcommand(named: next) {
            command = child
            rest = rest.dropFirst()
        }
        if rest.isEmpty, !word.hasPrefix("-") {
            subcommands = command.shownSubcommands
        }
        if isHelp { return }
        while let standard = command.configuration.defaultSubcommand { command = standard }
        try readArguments(of: command, rest, word)
    }

    private mutating func readArguments(
        of command: any ParsableCommand.Type, _ words: ArraySlice<String>, _ word: String
    ) throws {
        let arguments = try ArgumentInfo.all(of: command)
        let places = arguments.filter { $0.kind == .positional }
        /// The option whose value comes next.
        var open: ArgumentInfo?
        var isTerminated = false
        var used: Set<String> = []
        var place = 0
        func argument(named name: String) -> ArgumentInfo? {
            arguments.first { $0.names?.contains { $0.text == name } ?? false }
        }
        func isValue(_ word: String, of option: ArgumentInfo) -> Bool {
            !word.hasPrefix("-") || word == "-" || option.parsingStrategy == .unconditional
        }
        for word in words {
            if let option = open, isValue(word, of: option) {
                given[option.firstName] = word
                if option.parsingStrategy != .upToNextOption { open = nil }
                continue
            }
            open = nil
            if isTerminated || !word.hasPrefix("-") || word == "-" {
                positionals.append(word)
                earlier.append(word)
                if place < places.count, !places[place].isRepeating { (place, earlier) = (place + 1, []) }
            } else if word == "--" {
                isTerminated = true
            } else {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let found = argument(named: String(parts[0])) else { continue }
                used.insert(found.firstName)
                if parts.count == 2 {
                    given[found.firstName] = String(parts[1])
                } else if found.kind == .option {
                    open = found
                }
            }
        }
        let next = places.indices.contains(place) && places[place].shouldDisplay ? places[place] : nil
        if let open, isValue(word, of: open) {
            (value, earlier) = (open, [])
        } else if isTerminated || !word.hasPrefix("-") {
            value = next
        } else if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
            value = argument(named: String(word[..<sign])).flatMap { $0.kind == .option ? $0 : nil }
            (prefix, typed, earlier) = (String(word[...sign]), String(word[word.index(after: sign)...]), [])
        } else {
            options = arguments.filter {
                $0.kind != .positional && $0.shouldDisplay && ($0.isRepeating || !used.contains($0.firstName))
            }
            // A search can exclude what a field has: -tag:sf.
            if next?.values == .query { value = next }
        }
    }
}

extension ArgumentInfo {
    /// The name by which values of an option are kept.
    fileprivate var firstName: String { names?.first?.text ?? "" }

    /// The values of the argument that ``CompletedValues`` completes; `nil` if it has none of them.
    var values: CompletedValue? {
        if case .shellCommand(let name)? = completionKind { CompletedValue(rawValue: name) } else { nil }
    }
}

import ArgumentParser
import Bookplate
import Foundation
import Terminal

/// A text that can stand where a word is completed.
struct CompletionCandidate: Equatable {
    var text: String
    /// One line that explains the text; zsh and fish show it.
    var explanation: String?
    /// True if the text is the beginning of a word, so that no space follows it.
    var isOpen = false

    init(_ text: String, _ explanation: String? = nil, isOpen: Bool = false) {
        (self.text, self.explanation, self.isOpen) = (text, explanation, isOpen)
    }
}

/// The words and files that a shell offers for a word.
struct CompletionAnswer {
    /// Files and folders, which the shell finds itself.
    enum Files: Equatable {
        /// Files with these extensions, in any case, and folders; all files if there is no extension.
        case files(extensions: [String])
        case folders
    }

    var candidates: [CompletionCandidate] = []
    var files: Files?

    /// Returns the answer for a word. Whatever cannot be read gives no candidates, because a message would appear in
    /// the middle of the line that is being typed. The command itself reports the reason when it runs.
    ///
    /// - Parameters:
    ///   - words: the words before the word, beginning with the program.
    ///   - word: the part of the word that has been typed.
    init(words: [String], word: String) async {
        guard let position = try? CommandPosition(root: Scan.self, words: Array(words.dropFirst()), word: word)
        else { return }
        let folded = word.caseFolded
        candidates = position.subcommands.map { CompletionCandidate($0._commandName, $0.configuration.abstract) }
        for option in position.options {
            // A short name is offered only for an option that has no long one.
            let names = option.names ?? []
            let long = names.filter { $0.kind == "long" }
            candidates += (long.isEmpty ? names : long).map { CompletionCandidate($0.text, option.abstract) }
        }
        if words.count == 1, word.hasPrefix("-") {
            candidates.append(CompletionCandidate("--version", "Show the version."))
        }
        candidates = candidates.filter { $0.text.caseFolded.hasPrefix(folded) }
        switch position.value?.completionKind {
        case .list(let values)?:
            let descriptions = position.value?.allValueDescriptions
            add(values.map { CompletionCandidate($0, descriptions?[$0]) }.fitting(position.typed), position)
        case .file(let extensions)?: files = .files(extensions: extensions)
        case .directory?: files = .folders
        case .shellCommand?:
            guard let kind = position.value?.values else { break }
            let values = CompletedValues(position)
            files = values.files(for: kind)
            add((try? await values.candidates(for: kind)) ?? [], position)
        case .custom?, .customAsync?, .customDeprecated?, nil: break
        }
    }

    private mutating func add(_ values: [CompletionCandidate], _ position: CommandPosition) {
        for var value in values {
            // A name that is taken for an option must not become one. Control characters would reach the terminal.
            guard !value.text.isEmpty, value.text == value.text.oneLine,
                !value.text.hasPrefix("-") || !position.prefix.isEmpty || position.typed.hasPrefix("-")
            else { continue }
            value.text = position.prefix + value.text
            candidates.append(value)
        }
    }

    /// The answer as a shell's script reads it: a line with the directives, and one line for each candidate.
    ///
    /// - `files`, with the extensions of those that are offered if these are not all, or `folders`: the shell adds
    ///   them.
    /// - `nospace`: no space follows the candidates.
    /// - `loose`: the candidates do not begin with the word, so that nothing may be put in its place before one of them
    ///   is chosen.
    func text(for shell: Shell, word: String, line: TypedLine? = nil) -> String {
        var directives: [String] = []
        if candidates.contains(where: \.isOpen) { directives.append("nospace") }
        let folded = word.caseFolded
        let isLoose = candidates.count > 1 && !candidates.allSatisfy { $0.text.caseFolded.hasPrefix(folded) }
        if isLoose { directives.append("loose") }
        switch files {
        case .files(let extensions)?: directives += ["files"] + extensions
        case .folders?: directives.append("folders")
        case nil: break
        }
        var lines: [String]
        if shell == .bash, let line {
            lines = candidates.compactMap { line.replacement(for: $0.text) }
            // With a candidate that begins like no other, bash lists all of them and leaves the word as it is.
            if isLoose, !lines.isEmpty { lines.append(" ") }
        } else {
            lines = candidates.map { candidate in
                let explanation = candidate.explanation.map { "\t\($0.oneLine.replacing("\t", with: " "))" } ?? ""
                return candidate.text + explanation
            }
        }
        return ([directives.joined(separator: " ")] + lines).map { $0 + "\n" }.joined()
    }
}

extension [CompletionCandidate] {
    /// The candidates that begin with a text. Case does not matter.
    func fitting(_ typed: String) -> [CompletionCandidate] {
        let folded = typed.caseFolded
        return filter { $0.text.caseFolded.hasPrefix(folded) }
    }
}

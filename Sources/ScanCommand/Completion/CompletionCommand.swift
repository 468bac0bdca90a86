import ArgumentParser
import Terminal

/// Prints the script with which a shell completes the command line of `scan`.
struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Print the script for completion in bash, zsh or fish.",
        discussion: """
            The script completes commands, options, files, and what is in your library:
            tags, shelves, authors, readers, books and ids. The Debian package installs
            it. Without the package, put this line into ~/.bashrc:

              source <(scan completion bash)

            into ~/.zshrc, below the line with compinit:

              source <(scan completion zsh)

            or into ~/.config/fish/config.fish:

              scan completion fish | source
            """)

    @Argument(help: "The shell: 'bash', 'zsh' or 'fish'.") var shell: Shell

    func run() { Output.shared.printRaw(shell.script) }

    /// The option of the argument parser that this command replaces.
    private static let option = "--generate-completion-script"

    /// Returns the arguments of the program. The option with which scripts were generated before, and which other
    /// programs with the same argument parser have, becomes this command.
    static func replacingOption(in arguments: [String]) -> [String] {
        guard let first = arguments.first else { return arguments }
        if first == option { return ["completion"] + arguments.dropFirst() }
        return first.hasPrefix(option + "=") ? ["completion", String(first.dropFirst(option.count + 1))] : arguments
    }
}

extension Shell: ExpressibleByArgument {}

/// Prints what a shell offers for the word that is being typed. Only the scripts of ``Shell/script`` run this command.
struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "Print what can be typed next (for the scripts of 'scan completion').",
        shouldDisplay: false)

    @Argument(help: "The shell.") var shell: Shell
    @Argument(
        parsing: .postTerminator,
        help: "In bash, COMP_WORDBREAKS and the line up to the cursor; in other shells, the words up to the cursor.")
    var words: [String] = []

    func run() async {
        guard let last = words.last else { return }
        guard shell == .bash else {
            let word = shell == .fish ? TypedLine(last, breaks: "").word : last
            let answer = await CompletionAnswer(words: words.dropLast(), word: word)
            return Output.shared.printRaw(answer.text(for: shell, word: word))
        }
        let line = TypedLine(last, breaks: words[0])
        var answer = await CompletionAnswer(words: line.words, word: line.word)
        if line.isRedirection { (answer.candidates, answer.files) = ([], .files(extensions: [])) }
        Output.shared.printRaw(answer.text(for: .bash, word: line.word, line: line))
    }
}

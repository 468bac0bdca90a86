import ArgumentParser
import Async
import Bookplate
import Foundation
import Processes
import SystemCalls
import SystemPackage
import Terminal

/// A text that a person changes in their own editor. The file is in a private folder, and is removed however the
/// program ends, unless it is killed.
struct EditedFile {
    /// The size of a text beyond which it is not read. Every text that can be stored is shorter.
    private static let byteLimit = 1 << 20

    private let path: String
    private let terminal: FileDescriptor
    private let editor: String
    /// The id of the editor's process while it runs, else 0.
    private let process = SharedValue<pid_t>(0)

    /// True if a person at a terminal can use an editor.
    static var isPossible: Bool {
        // A process without a controlling terminal cannot open it, and thus has none for an editor.
        guard isatty(STDIN_FILENO) == 1, let terminal = try? openTerminal() else { return false }
        defer { try? terminal.close() }
        return tcgetpgrp(terminal.rawValue) == getpgrp()
    }

    private static func openTerminal() throws -> FileDescriptor {
        try FileDescriptor.open("/dev/tty", .readWrite, options: .closeOnExec)
    }

    /// Makes a private folder for the file. Call ``remove()`` when the text has been edited.
    ///
    /// - Parameter name: the name of the file, such as `book.txt`.
    /// - Throws: ``CommandError`` if there is no editor or no place for the folder.
    init(named name: String) throws {
        editor = try Self.editor()
        do {
            terminal = try Self.openTerminal()
        } catch {
            throw CommandError(.usage, "there is no terminal for the editor: \(error). Give the text as an argument.")
        }
        Interrupts.handle { nil }
        let folder = try Self.makeFolder()
        path = folder + "/" + name
        Interrupts.onEnd { [process, terminal] in
            let editor = process.value
            if editor > 0 { kill(editor, SIGTERM) }
            // Editors leave backups and other files beside the text.
            do {
                try FileManager.default.removeItem(atPath: folder)
            } catch {
                Output.shared.printError("cannot remove \(folder): \(error). It holds the text; delete it.")
            }
            // Nothing was written to it that could be lost.
            try? terminal.close()
        }
    }

    /// Removes the file, its folder, and what the editor has left there.
    func remove() { Interrupts.release() }

    /// Lets the person change the text.
    ///
    /// - Returns: the new text, with line feeds as line breaks; nil if the person left the text as it is, or removed
    ///   every line that is no comment.
    /// - Throws: ``CommandError`` if the editor fails, and an exit code if Control-C ended it.
    func edit(_ text: String) throws -> String? {
        try replaceFile(path, with: text.utf8, mode: 0o600)
        var settings = termios()
        let hasSettings = tcgetattr(terminal.rawValue, &settings) == 0
        // The shell splits the setting into a program and its arguments, as git has it do.
        let command = ChildProcess.Command(
            path: "/bin/sh", arguments: ["sh", "-c", "\(editor) \"$@\"", "sh", path],
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
        let streams = ChildProcess.Streams(input: terminal, output: terminal, error: terminal)
        let status = try ChildProcess.runAtTerminal(command, streams) { id in process.withLock { $0 = id } }
        process.withLock { $0 = 0 }
        switch status {
        case .exited(0): break
        case .signalled(let signal),
            .exited(let signal) where signal == SIGINT + 128:
            // An editor that was killed may have left the terminal without echo.
            if hasSettings { tcsetattr(terminal.rawValue, TCSADRAIN, &settings) }
            guard signal % 128 == SIGINT else {
                throw CommandError(
                    .unreadable, "signal \(signal) ended the editor '\(editor.oneLine)'. Nothing changed.")
            }
            throw ExitCode(128 + SIGINT)
        case .exited(let code):
            throw CommandError(
                .unreadable,
                "the editor '\(editor.oneLine)' failed with the exit status \(code), so nothing was changed. To use another one, set VISUAL or EDITOR."
            )
        }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try readFile(path, limit: Self.byteLimit + 1) } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw error
        }
        guard bytes.count <= Self.byteLimit else {
            throw CommandError(.usage, "the text is larger than 1 MB, so nothing was changed.")
        }
        let edited = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        let isEmpty = edited.split(separator: "\n").allSatisfy { $0.hasPrefix("#") || String($0).cleaned.isEmpty }
        return edited == text || isEmpty ? nil : edited
    }

    /// Returns the command of the person's editor: the one in VISUAL or EDITOR, else the first that is installed.
    private static func editor() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = ["VISUAL", "EDITOR"].compactMap({ environment[$0] }).first(where: { !$0.cleaned.isEmpty }) {
            return chosen
        }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        let installed = ["editor", "vi", "nano"].first { name in
            folders.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        guard let installed else {
            throw CommandError(.configuration, "no editor is installed. Set VISUAL or EDITOR to the command of one.")
        }
        return installed
    }

    /// Makes a new folder that only this user can open.
    private static func makeFolder() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let places =
            ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { environment[$0] }.filter { $0.hasPrefix("/") } + ["/tmp"]
        var failure = Errno.noSuchFileOrDirectory
        for place in places {
            var template = Array("\(place)/bookplate-XXXXXX".utf8CString)
            guard mkdtemp(&template) == nil else {
                // The C characters are signed on some processors only, so they are read as bytes.
                return template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
            }
            failure = .current
        }
        throw CommandError(
            .inputOutput,
            "cannot make a folder for the text in \(places.joined(separator: ", ").printable): \(failure). Set TMPDIR to a folder that you can write to."
        )
    }
}

import Foundation
import Processes
import SystemPackage

/// The program with which a person reads long output screen by screen.
struct Pager: Equatable {
    /// The command line, which a shell runs.
    let command: String
    /// The variables for the pager, in addition to those of this process.
    var variables: [String: String] = [:]

    /// Returns the pager that the environment names: BOOKPLATE_PAGER, otherwise PAGER, otherwise less, if it is
    /// installed. Without an own LESS, less gets the options F (quit if the text fits on one screen), R (show colours)
    /// and X (leave the text on the screen).
    ///
    /// - Returns: `nil` if there is none, if the variable is empty or names `cat`, or if the terminal cannot move its
    ///   cursor.
    static func chosen(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Pager? {
        guard !["", "dumb"].contains(environment["TERM"] ?? "") else { return nil }
        let named = environment["BOOKPLATE_PAGER"] ?? environment["PAGER"]
        guard let command = named ?? installedLess(environment["PATH"] ?? "") else { return nil }
        guard !["", "cat"].contains(command.trimmingCharacters(in: .whitespaces)) else { return nil }
        return Pager(command: command, variables: environment["LESS"] == nil ? ["LESS": "FRX"] : [:])
    }

    private static func installedLess(_ path: String) -> String? {
        path.split(separator: ":").contains { access("\($0)/less", X_OK) == 0 } ? "less" : nil
    }

    /// Shows the text, and returns when the person has quit the pager.
    ///
    /// - Returns: false if the pager cannot be started, so that nothing was shown. A shell says why.
    func show(_ text: String) -> Bool {
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let shell = ChildProcess.Command(
            path: "/bin/sh", arguments: ["sh", "-c", command], environment: environment.map { "\($0)=\($1)" })
        do {
            let ends = try FileDescriptor.pipe(options: .closeOnExec)
            let streams = ChildProcess.Streams(input: ends.readEnd, output: .standardOutput, error: .standardError)
            let status: ChildProcess.Status
            do {
                status = try ChildProcess.runAtTerminal(shell, streams) { _ in
                    // Whoever reads the pipe must see its end, so this process closes its own copies.
                    try? ends.readEnd.close()
                    // Writing fails if the person quits before the end of the text.
                    _ = try? ends.writeEnd.writeAll(text.utf8)
                    try? ends.writeEnd.close()
                }
            } catch {
                try ends.readEnd.close()
                try ends.writeEnd.close()
                throw error
            }
            return ![.exited(Self.notExecutable), .exited(Self.notFound)].contains(status)
        } catch {
            // The text is printed without a pager instead.
            return false
        }
    }

    /// The exit statuses of a shell that cannot run a command (POSIX, XCU 2.8.2).
    private static let (notExecutable, notFound): (Int32, Int32) = (126, 127)
}

extension String {
    /// Returns true if a terminal of this size shows all lines of the text, which may contain escape sequences for
    /// colours.
    func fits(columns: Int, rows: Int) -> Bool {
        var used = 0
        for line in split(separator: "\n", omittingEmptySubsequences: false).dropLast(hasSuffix("\n") ? 1 : 0) {
            used += max(1, (String(line).columns + columns - 1) / max(1, columns))
            if used > rows { return false }
        }
        return true
    }
}

import ArgumentParser
import CProcess
import Glibc
import Terminal

/// The program. Without a command it captures books: `scan`, `scan --image cover.jpg`.
@main
struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Point a camera at a book, confirm it, and it is in your library.",
        usage: """
            scan [--device CAMERA] [--frames -] [the options below]
            scan --image FILE... [--yes] [--shelf NAME] [--tag NAME] [--wishlist]
            scan --isbn NUMBER... [the same options]
            scan --stdin [the same options]
            scan --hub ADDRESS [any of the above]
            scan COMMAND ...
            """,
        discussion: """
            Ways to capture (to see all options, run 'scan capture --help'):
              scan                        the camera, live
              scan --image cover.jpg      photos, folders of photos, - for standard input
              scan --isbn 9780441478125   typed ISBNs
              scan --stdin                ISBNs, one per line, as scanners type them
              scan --frames -             an MJPEG stream, as rpicam-vid writes it

            Each book is shown with what the sources know about it. No book is saved
            until you confirm it.

            Exit codes: 0 done, 3 no ISBN or no such book, 4 books left unconfirmed,
            64 wrong usage, 65 library or backup damaged, 66 an input unreadable, 69 a
            source or the camera unavailable, 74 input or output failed or disk full,
            75 library locked, 77 permission missing, 78 wrong settings, or a library
            written by a newer version; 128 plus the signal's number if interrupted.
            """,
        version: productVersion,
        subcommands: [
            CaptureCommand.self, DecodeCommand.self, ISBNCommand.self, LookupCommand.self, FindCommand.self,
            IntakeCommand.self, LibraryCommand.self, ReadingCommand.self, SessionCommand.self, NoteCommand.self,
            QuoteCommand.self, TagCommand.self, AuthorCommand.self, ShelfCommand.self, FilterCommand.self,
            ReaderCommand.self, HomeCommand.self, StatsCommand.self, UndoCommand.self, RedoCommand.self,
            EventsCommand.self, ImportCommand.self, ExportCommand.self, BackupCommand.self, RestoreCommand.self,
            IndexCommand.self, DevicesCommand.self, DoctorCommand.self, SettingsCommand.self, KioskCommand.self,
            HubCommand.self, CompletionCommand.self, CompleteCommand.self, ReadPhotoCommand.self,
        ],
        defaultSubcommand: CaptureCommand.self)

    static func main() async {
        // By default, glibc gives threads up to eight arenas per core (mallopt(3)), and what is freed in one arena
        // cannot be used by the threads of another, so a service with a dozen threads would grow for hours.
        mallopt(M_ARENA_MAX, 2)
        var command: any ParsableCommand
        do {
            command = try parseAsRoot(
                CompletionCommand.replacingOption(in: Array(CommandLine.arguments.dropFirst())))
        } catch {
            exit(withError: Misspelling.explain(error, of: Array(CommandLine.arguments.dropFirst())))
        }
        OpenedLibraries.start()
        var failure: (any Error)?
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            failure = error
        }
        Interrupts.waitIfEnding()
        // The error is printed before the backup, which takes some time for a large library.
        let error = failure.flatMap { exitCode(for: $0) == .failure ? CommandError(describing: $0) : nil }
        Output.shared.showStatus("")
        if let error { Output.shared.printError(error.description) }
        await OpenedLibraries.backUpAndClose()
        // The handlers that libraries have registered would free what libcurl's thread may still use; OpenSSL's cleanup
        // is one of them (OPENSSL_cleanup(3)). The last handler to be registered is the first to be called.
        on_exit(
            { status, _ in
                fflush(nil)
                _exit(status)
            }, nil)
        if let error { exit(withError: ExitCode(error.status.rawValue)) }
        // The argument parser throws these: exit codes, help, and wrong usage.
        if let failure { exit(withError: failure) }
    }
}

/// The version of the program.
let productVersion = "0.2.0"

/// The project's address. Sources ask clients to give it in the User-Agent header.
let productURL = "https://github.com/bookplate/bookplate"

import ArgumentParser
import Bookplate

/// The days of the reading that a book entered by hand has.
struct ReadingDayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When it was started; not with toRead.", valueName: "day")) var started: String?
    @Option(help: ArgumentHelp("When it was finished; with --status read.", valueName: "day")) var finished: String?
    @Option(help: ArgumentHelp("When it was given up; with --status dnf.", valueName: "day")) var stopped: String?

    /// - Throws: `ValidationError` for a day that a book of this status has not.
    func check(with status: Copy.Status) throws {
        if started != nil, status == .toRead {
            throw ValidationError(
                "--started is of a book that was begun; say --status too: reading, read, onHold or dnf.")
        }
        if finished != nil, status != .read { throw ValidationError("--finished goes with --status read.") }
        if stopped != nil, status != .dnf { throw ValidationError("--stopped goes with --status dnf.") }
    }

    /// - Throws: ``Complaint`` for what is no day.
    func edit(_ when: When) throws -> DateEdit {
        func day(_ text: String?, _ option: String) throws -> Edit<CalendarDay> {
            try text.map { .set(try when.day($0, for: option)) } ?? .keep
        }
        return DateEdit(
            started: try day(started, "--started"), finished: try day(finished, "--finished"),
            stopped: try day(stopped, "--stopped"))
    }
}

import ArgumentParser
import Async
import Bookplate
import Foundation
import Library
import Lookup
import Terminal

/// Prints checks as they complete, and counts the problems.
struct DoctorReport {
    let json: Bool
    private(set) var broken = 0
    private(set) var attention = 0

    init(json: Bool) { self.json = json }

    /// Prints the results of checks.
    ///
    /// - Parameter section: the heading above the results; nil for no heading. JSON never has headings.
    mutating func add(_ checks: [Check], under section: String? = nil) {
        broken += checks.count { $0.state == .broken }
        attention += checks.count { $0.state == .attention }
        let style = Output.shared.style
        if let section, !json { Output.shared.printLine(style.strong(section)) }
        let columns = Output.shared.isTerminal ? terminalSize().columns : nil
        for check in checks {
            if json {
                Output.shared.printLine(check.json)
            } else {
                Output.shared.printLine(check.text(style, columns: columns))
            }
        }
    }

    /// Prints a summary, and ends the command with exit status 69 if no book can be scanned now.
    func end() throws {
        if !json { Output.shared.printLine(summary) }
        if broken > 0 { throw ExitCode(ExitStatus.unavailable.rawValue) }
    }

    private var summary: String {
        switch (broken, attention) {
        case (0, 0): "Books can be scanned."
        case (0, _): "Books can be scanned; \(counted(attention, "point")) could be improved (▲)."
        default: "No book can be scanned with the camera until the problems marked ✕ are fixed."
        }
    }
}

/// The result of one check of `scan doctor`.
struct Check: Sendable, Equatable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// Books can be scanned, but something needs attention.
        case attention
        /// No book can be scanned with the camera until this is fixed.
        case broken
        /// The check was not made, or could not be made.
        case unknown
    }

    /// The name of the check: one word, which is the same in every release, because scripts look for it.
    var name: String
    var state: State
    /// The observed fact, without a full stop.
    var fact: String
    /// The advice, in whole sentences.
    var next: String?

    init(_ name: String, _ state: State, _ fact: String, next: String? = nil) {
        (self.name, self.state, self.fact, self.next) = (name, state, fact, next)
    }

    /// Creates a check from a message of the form *what, where, what next*. The first sentence is the fact, and the
    /// other sentences are the advice.
    init(_ name: String, _ state: State, message: String) {
        var sentences = message.split(separator: ". ", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
        if sentences.count == 1, sentences[0].hasSuffix(".") { sentences[0].removeLast() }
        self.init(name, state, sentences.first ?? message, next: sentences.count > 1 ? sentences[1] : nil)
    }

    /// The result as JSON. All keys are always present, in this order.
    var json: JSONValue {
        [
            "check": .string(name), "state": .string(state.rawValue), "fact": .string(fact), "next": JSONValue(next),
        ]
    }

    /// Returns the result as text for people: the state as a coloured shape, the fact, and the advice on the next line.
    ///
    /// - Parameter columns: the width of the terminal, or `nil` if lines may have any length.
    func text(_ style: Style, columns: Int? = nil) -> String {
        func lines(_ text: String) -> String {
            let room = columns.map { max(20, $0 - 18) }
            let lines = room.map { text.oneLine.wrapped($0, atMost: .max) } ?? [text.oneLine]
            return lines.joined(separator: "\n" + String(repeating: " ", count: 17))
        }
        let line = "  \(state.mark(style)) \(name.padded(12)) \(lines(fact))"
        return next.map { "\(line)\n\(String(repeating: " ", count: 17))\(lines($0))" } ?? line
    }
}

extension Check.State {
    func mark(_ style: Style) -> String {
        switch self {
        case .ok: style.new("✓")
        case .attention: style.attention("▲")
        case .broken: style.problem("✕")
        case .unknown: style.faint("·")
        }
    }
}

extension Double {
    /// Returns the number with `digits` decimals. A number that is not finite becomes "0" or "0.0".
    func rounded(to digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = Int(exactly: (abs(self) * scale).rounded()) ?? 0
        let sign = self < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let text = String(repeating: "0", count: max(0, digits + 1 - String(whole).count)) + String(whole)
        return "\(sign)\(text.dropLast(digits)).\(text.suffix(digits))"
    }
}

/// Returns a number of bytes as text: "12 kB", "3.4 MB" or "56 GB".
func byteText(_ bytes: Int64) -> String {
    let (kilo, mega, giga) = (1_000.0, 1_000_000.0, 1_000_000_000.0)
    let count = Double(bytes)
    return switch count {
    case ..<mega: "\((count / kilo).rounded(to: 0)) kB"
    case ..<giga: "\((count / mega).rounded(to: count < 10 * mega ? 1 : 0)) MB"
    default: "\((count / giga).rounded(to: count < 10 * giga ? 1 : 0)) GB"
    }
}

/// Checks the settings, the library and the sources while the camera is being watched. Time limits ensure that a disk
/// or a network that hangs does not hold it up.
struct DoctorFindings: Sendable {
    struct Findings: Sendable {
        var library: [Check] = []
        var metadata: [Check] = []
        /// For each source that answered, the time by which its clock is ahead of this machine's clock.
        var clockLeads: [Duration] = []
    }

    /// The time limits for opening the library, and then for checking it and querying the sources.
    static let patience: (opening: Duration, asking: Duration) = (.seconds(6), .seconds(10))
    /// The time limit for each of two waits: until the rate limits allow a request to a source, and then until the
    /// source answers. The sum of the two is shorter than ``patience``.
    static let sourcePatience: Duration = .seconds(4)

    let paths: PathOptions

    func gather() async -> Findings {
        let wiring: Wiring
        let path: String
        do {
            wiring = try Wiring(settings: paths.settings(), isForAllReaders: true)
            guard let library = wiring.settings[.library] else {
                throw CommandError(.configuration, "no library is set. Give the path of one with --library.")
            }
            path = library
        } catch {
            return Findings(
                library: [Check("settings", .broken, message: CommandError(describing: error).description)])
        }
        let opening = await withTimeLimit(Self.patience.opening) {
            Result { try wiring.openExistingLibrary() }
        }
        async let library = library(path, opening)
        async let sources = sources(wiring, path, opening)
        let index = index(wiring)
        let (checks, found) = await (library, sources)
        return Findings(
            library: checks, metadata: found.map(SourceChecks.check) + [index],
            clockLeads: found.compactMap(\.clockLead))
    }

    private func library(_ path: String, _ opening: Result<LibraryFile?, any Error>?) async -> [Check] {
        let facts = await withTimeLimit(Self.patience.asking) { await LibraryFacts(path, opening) }
        return LibraryChecks(facts: facts ?? LibraryFacts(path: path, status: .unfinished), now: Date()).all
    }

    private func sources(
        _ wiring: Wiring, _ path: String, _ opening: Result<LibraryFile?, any Error>?
    ) async -> [SourceProbe.Finding] {
        let probe = wiring.probe {
            guard let opening else { throw LibraryError.locked(path: path) }
            return try opening.get()
        }
        let findings = await withTimeLimit(Self.patience.asking) {
            await probe.ask(for: SourceChecks.book, timeout: Self.sourcePatience)
        }
        if let findings { return findings }
        return (wiring.settings.sourceOrder ?? .standard).sources.map { source in
            let timeout = SourceError(source: source, reason: "no answer in time; is this machine online?")
            return SourceProbe.Finding(source: source, answer: .temporary(timeout))
        }
    }

    private func index(_ wiring: Wiring) -> Check {
        let isOffline = Settings.means(on: wiring.settings[.offline])
        guard let path = wiring.settings[.index] else { return SourceChecks.index(nil, isOffline: isOffline) }
        do throws(OfflineIndexError) {
            return SourceChecks.index(.success(try OfflineIndex(path: path).info()), isOffline: isOffline)
        } catch {
            return SourceChecks.index(.failure(error), isOffline: isOffline)
        }
    }
}

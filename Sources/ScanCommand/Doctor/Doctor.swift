import ArgumentParser
import Bookplate
import Foundation
import Library
import Lookup

/// Prints checks as they come, and remembers whether a book could be scanned.
struct DoctorReport {
    let json: Bool
    private(set) var broken = 0
    private(set) var attention = 0

    init(json: Bool) { self.json = json }

    /// - Parameter section: a heading for people; scripts get none.
    mutating func add(_ checks: [Check], under section: String? = nil) {
        broken += checks.count { $0.state == .broken }
        attention += checks.count { $0.state == .attention }
        let style = Output.shared.style
        if let section, !json { Output.shared.line(style.strong(section)) }
        let columns = Output.shared.isTerminal ? terminalSize().columns : nil
        for check in checks {
            if json { Output.shared.line(check.json) } else { Output.shared.line(check.text(style, columns: columns)) }
        }
    }

    /// Sums up, and ends the command with 69 when no book can be scanned now.
    func end() throws {
        if !json { Output.shared.line(summary) }
        if broken > 0 { throw ExitCode(ExitStatus.unavailable.rawValue) }
    }

    private var summary: String {
        switch (broken, attention) {
        case (0, 0): "Books can be scanned."
        case (0, _): "Books can be scanned; \(counted(attention, "thing")) could be better (▲)."
        default: "No book can be scanned with the camera until what is marked ✕ is mended."
        }
    }
}

/// One thing that the doctor looked at.
struct Check: Sendable, Equatable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// Books can be scanned, but something is not as it should be.
        case attention
        /// Until this is mended no book can be scanned.
        case broken
        /// It was not looked at, or could not be.
        case unknown
    }

    /// One word, the same in every release: scripts look for it.
    var name: String
    var state: State
    /// What was seen, without a full stop.
    var fact: String
    /// What a person can do about it; whole sentences.
    var next: String?

    init(_ name: String, _ state: State, _ fact: String, next: String? = nil) {
        (self.name, self.state, self.fact, self.next) = (name, state, fact, next)
    }

    /// From a message that says *what, where, what next*: its first sentence is the fact, the others are what to do.
    init(_ name: String, _ state: State, telling message: String) {
        var sentences = message.split(separator: ". ", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
        if sentences.count == 1, sentences[0].hasSuffix(".") { sentences[0].removeLast() }
        self.init(name, state, sentences.first ?? message, next: sentences.count > 1 ? sentences[1] : nil)
    }

    /// All keys, in this order.
    var json: JSONValue {
        [
            "check": .string(name), "state": .string(state.rawValue), "fact": .string(fact), "next": JSONValue(next),
        ]
    }

    /// For a person: the state by colour and shape, the fact, and below it what to do.
    ///
    /// - Parameter columns: of the terminal, `nil` where lines may be of any length.
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
    /// With so many digits behind the point.
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

/// "12 kB", "3.4 MB", "56 GB"
func byteText(_ bytes: Int64) -> String {
    let (kilo, mega, giga) = (1_000.0, 1_000_000.0, 1_000_000_000.0)
    let count = Double(bytes)
    return switch count {
    case ..<mega: "\((count / kilo).rounded(to: 0)) kB"
    case ..<giga: "\((count / mega).rounded(to: count < 10 * mega ? 1 : 0)) MB"
    default: "\((count / giga).rounded(to: count < 10 * giga ? 1 : 0)) GB"
    }
}

/// Settings, library and sources: what is looked at while the camera is. A disk or a network that hangs is not waited for.
struct DoctorFindings: Sendable {
    struct Findings: Sendable {
        var library: [Check] = []
        var metadata: [Check] = []
        /// How far the clocks of those who answered are ahead of this machine's.
        var clockLeads: [Duration] = []
    }

    /// For opening the library, and then for checking it and for the sources.
    static let patience: (opening: Duration, asking: Duration) = (.seconds(6), .seconds(10))
    /// For a source's turn, and again for its answer: both together end before ``patience`` does.
    static let sourcePatience: Duration = .seconds(4)

    let places: PathOptions

    func look() async -> Findings {
        let wiring: Wiring
        let path: String
        do {
            wiring = try Wiring(settings: places.settings())
            guard let library = wiring.settings[.library] else {
                throw CommandError(.configuration, "no library is set. Name one with --library.")
            }
            path = library
        } catch {
            return Findings(
                library: [Check("settings", .broken, telling: CommandError(describing: error).description)])
        }
        let opening = await answer(within: Self.patience.opening) {
            Result { try wiring.openExistingLibrary() }
        }
        var shared: LibraryFile?
        // One that cannot be opened is told by its own check; the sources then are asked with this process's policy alone.
        if case .success(let opened)? = opening { shared = opened }
        async let library = library(path, opening)
        async let sources = sources(wiring, shared)
        let index = index(wiring)
        let (checks, found) = await (library, sources)
        return Findings(
            library: checks, metadata: found.map(SourceChecks.check) + [index],
            clockLeads: found.compactMap(\.clockLead))
    }

    private func library(_ path: String, _ opening: Result<LibraryFile?, any Error>?) async -> [Check] {
        let facts = await answer(within: Self.patience.asking) { await LibraryFacts(path, opening) }
        return LibraryChecks(facts: facts ?? LibraryFacts(path: path, status: .unfinished), now: Date()).all
    }

    private func sources(_ wiring: Wiring, _ library: LibraryFile?) async -> [SourceProbe.Finding] {
        let findings = await answer(within: Self.patience.asking) {
            await wiring.probe(library).ask(for: SourceChecks.book, timeout: Self.sourcePatience)
        }
        if let findings { return findings }
        return [SourceName.openLibrary, .googleBooks].map { source in
            let silence = SourceError(source: source, reason: "no answer in time; is there a network?")
            return SourceProbe.Finding(source: source, answer: .temporary(silence))
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

/// The answer of some work, or `nil` when it takes longer: whoever hangs is left behind, cancelled.
func answer<Answer: Sendable>(
    within limit: Duration, _ work: @escaping @Sendable () async -> Answer
) async -> Answer? {
    let (answers, continuation) = AsyncStream.makeStream(of: Answer?.self)
    let working = Task { continuation.yield(await work()) }
    let waiting = Task {
        try await Task.sleep(for: limit)
        continuation.yield(nil)
    }
    defer {
        working.cancel()
        waiting.cancel()
    }
    for await answer in answers { return answer }
    return nil
}

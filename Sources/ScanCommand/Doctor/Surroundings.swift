import Bookplate
import Foundation
import Library
import Lookup

/// Settings, library and sources: what is looked at while the camera is. A disk or a network that hangs is not waited for.
struct Surroundings: Sendable {
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

    let places: PlaceOptions

    func look() async -> Findings {
        let wiring: Wiring
        let path: String
        do {
            wiring = try Wiring(settings: places.settings())
            guard let library = wiring.settings[.library] else {
                throw Complaint(.configuration, "no library is set. Name one with --library.")
            }
            path = library
        } catch {
            return Findings(
                library: [Check("settings", .broken, telling: Failure.complaint(for: error).description)])
        }
        let opening = await answer(within: Self.patience.opening) {
            Result { try wiring.openExistingLibrary() }
        }
        var shared: LibraryFile?
        // One that cannot be opened is told by its own check; the sources then are asked with this process's manners alone.
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
        return LibraryChecks(facts: facts ?? LibraryFacts(path: path, standing: .unfinished), now: Date()).all
    }

    private func sources(_ wiring: Wiring, _ library: LibraryFile?) async -> [SourceProbe.Finding] {
        let findings = await answer(within: Self.patience.asking) {
            await wiring.probe(library).ask(for: SourceChecks.book, patience: Self.sourcePatience)
        }
        if let findings { return findings }
        return [SourceName.openLibrary, .googleBooks].map { source in
            let silence = SourceFailure(source: source, reason: "no answer in time; is there a network?")
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

// The former names of members that callers still use; each is removed with its last use.

import FoundationEssentials

extension Intake {
    public func capture(
        _ detections: [Detection], preset: Preset, lease: Duration, at now: Date
    ) async throws -> [IntakeItem] {
        try await enqueue(detections, preset: preset, lease: lease, at: now)
    }

    public func give(_ preset: Preset, to ids: [ID<IntakeItem>]) async throws { try await setPreset(preset, of: ids) }

    public func pictured(in states: Set<IntakeItem.State>) async throws -> Set<ID<IntakeItem>> {
        try await itemsWithThumbnail(in: states)
    }
}

extension Covers {
    public func coverMissing(of edition: ID<Edition>, retryAt: Date?) async throws {
        try await recordMissingCover(of: edition, retryAt: retryAt)
    }
}

extension Consensus {
    public mutating func take(_ result: FrameResult, at time: Duration, believed: inout [Symbol]) {
        update(with: result, at: time, believed: &believed)
    }
}

extension HintRules {
    public mutating func take(_ result: FrameResult, at time: Duration) -> Hint? { update(with: result, at: time) }
}

extension Metadata {
    public mutating func take(_ field: Field, from other: Metadata) { copy(field, from: other) }
}

extension IntakeItem {
    public var station: String { device }

    public init(
        id: ID<IntakeItem> = ID(), isbn: ISBN, raw: String, addon: String? = nil, origin: Origin, image: String? = nil,
        station: String, captured: Date, preset: Preset = Preset(), state: State = .waiting,
        outcome: LookupOutcome.Name? = nil, reason: String? = nil, source: SourceName? = nil, metadata: Metadata? = nil
    ) {
        self.init(
            id: id, isbn: isbn, raw: raw, addon: addon, origin: origin, image: image, device: station,
            captured: captured, preset: preset, state: state, outcome: outcome, reason: reason, source: source,
            metadata: metadata)
    }
}

import Bookplate
import Testing

@testable import Station

private let dune = "9780441013593", emma = "9780141439587"

@Suite(.timeLimit(.minutes(5))) struct `The presets of a station` {
    private func capture(_ isbn: String, with preset: Preset, _ rig: StationRig) async throws -> Station.Row {
        try await rig.station.capture(TypedNumber(text: isbn, origin: .typed), with: preset)
    }

    @Test func `belong each to its browser, and change only what this browser captured`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        let station = rig.station
        try await rig.run {
            _ = try await rig.capture(dune)
            _ = try await capture(emma, with: station.preset(of: "phone"), rig)
            try await station.setPreset(Preset(isWishlist: true, browser: "phone"))
            try await station.setPreset(Preset(shelf: "Attic"))
            let rows = try await rig.rows { $0.allSatisfy { $0.status == .found } }
            #expect(rows.map(\.candidate.item.preset.shelf) == [nil, "Attic"])
            #expect(rows.map(\.candidate.item.preset.isWishlist) == [true, false])
            #expect(await station.preset(of: "phone") == Preset(isWishlist: true, browser: "phone"))
            #expect(await station.preset(of: "tablet") == Preset(browser: "tablet"))

            // A book whose save is undone gets the preset that its browser has now.
            let saved = try await station.save([rows[0].id])
            try await station.setPreset(Preset(shelf: "Hall", browser: "phone"))
            try await station.undo(.act(#require(saved.change)))
            _ = try await rig.rows { $0.contains { $0.candidate.item.preset.shelf == "Hall" } }
            #expect(await station.row(rows[1].id)?.candidate.item.preset.shelf == "Attic")
        }
    }

    @Test func `are those of each browser's last book after a restart, and still change only its own books`()
        async throws
    {
        let first = try StationRig()
        let theirs = Preset(isWishlist: true, browser: "phone")
        try await first.run {
            _ = try await first.capture(dune)
            try await first.station.setPreset(Preset(shelf: "Attic"))
            try await first.station.setPreset(theirs)
            _ = try await capture(emma, with: first.station.preset(of: "phone"), first)
        }
        let second = try StationRig(folder: first.folder)
        try await second.run {
            _ = try await second.rows { $0.count == 2 }
            #expect(await second.station.snapshot().preset == Preset(shelf: "Attic"))
            #expect(await second.station.preset(of: "phone") == theirs)
            try await second.station.setPreset(Preset(shelf: "Cellar"))
            let presets = await second.station.snapshot().rows.map(\.candidate.item.preset)
            #expect(presets == [theirs, Preset(shelf: "Cellar")])
        }
    }

    @Test func `leave the books of other stations alone`() async throws {
        let rig = try StationRig()
        let detection = Detection(isbn: try ISBN(emma), raw: emma, origin: .hub)
        _ = try await rig.another().enqueue([detection], preset: Preset(), lease: .zero, at: .now)
        try await rig.run {
            _ = try await rig.rows { $0.count == 1 }
            try await rig.station.setPreset(Preset(shelf: "Attic"))
            #expect(await rig.station.snapshot().rows.map(\.candidate.item.preset) == [Preset()])
        }
    }
}

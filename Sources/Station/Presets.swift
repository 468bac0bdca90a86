import Bookplate

/// The presets: the shelf, tags and status with which captured books are saved. The station has a preset for its own
/// captures, and one for each browser on another machine.
extension Station {
    /// Returns the preset with which a browser captures.
    ///
    /// - Parameter browser: the browser's sign-in; nil for the station itself.
    public func preset(of browser: String?) -> Preset {
        browser.map { browserPresets[$0] ?? Preset(browser: $0) } ?? batch.preset
    }

    /// Changes the preset of one browser, or of the station itself: for later captures, for open rows that this browser
    /// captured since the station started, and for its other open rows that had the old preset. Rows that another
    /// browser or station captured keep theirs, as do rows to which a person gave a shelf, tags or a status of their
    /// own.
    public func setPreset(_ preset: Preset) async throws {
        let preset = try preset.checked()
        try await act { station in
            let old = station.preset(of: preset.browser)
            let own = station.batch.rows.filter { $0.candidate.item.belongs(to: preset.browser) }
            let ids = own.filter {
                $0.end == nil && !station.ownPreset.contains($0.id)
                    && (station.capturedHere.contains($0.id) || old.isPreset(ofItemWith: $0.candidate.item.preset))
            }.map(\.id)
            let candidates = ids.isEmpty ? [] : try await station.flow.setPreset(preset, of: ids)
            station.keep(preset)
            station.givenPreset.subtract(own.map(\.id))
            station.givenPreset.formUnion(ids)
            station.batch.replace(candidates)
            // Books may have been captured with the old preset in the meantime.
            station.applyPresetToStale()
        }
    }

    private func keep(_ preset: Preset) {
        if let browser = preset.browser { browserPresets[browser] = preset } else { batch.preset = preset }
    }

    /// Applies the presets to open rows that still have an earlier preset, because they were captured while the preset
    /// was being changed or were reopened by an undo.
    func applyPresetToStale() {
        let count = stalePresets.count
        guard count > 0 else { return }
        Task {
            do {
                try await act { station in
                    // Earlier acts may have answered some of these rows.
                    for (browser, rows) in Dictionary(
                        grouping: station.stalePresets, by: \.candidate.item.preset.browser)
                    {
                        let ids = rows.map(\.id)
                        let candidates = try await station.flow.setPreset(station.preset(of: browser), of: ids)
                        station.givenPreset.formUnion(ids)
                        station.batch.replace(candidates)
                    }
                }
            } catch {
                if !Task.isCancelled { log("cannot apply the preset to \(count) books: \(error)") }
            }
        }
    }

    private var stalePresets: [Batch.Row] {
        batch.open.filter {
            let preset = $0.candidate.item.preset
            return !self.preset(of: preset.browser).isPreset(ofItemWith: preset) && capturedHere.contains($0.id)
                && !givenPreset.contains($0.id) && !ownPreset.contains($0.id)
        }
    }

    /// Sets each preset to that of the browser's last capture, because after a restart of the service the person is
    /// usually still at the same shelf.
    func restorePresets() {
        let items = batch.rows.map(\.candidate.item).filter { $0.belongs(to: $0.preset.browser) }
        for (browser, last) in Dictionary(items.map { ($0.preset.browser, $0.preset) }, uniquingKeysWith: { $1 }) {
            let reader = preset(of: browser).reader
            guard preset(of: browser) == Preset(reader: reader, browser: browser) else { continue }
            var preset = last
            (preset.reader, preset.rating, preset.note) = (reader, nil, nil)
            keep(preset)
        }
    }
}

extension QueueItem {
    /// Returns true if the browser, or for nil the station itself, captured the item. Items of other stations belong to
    /// no browser of this one.
    fileprivate func belongs(to browser: String?) -> Bool { origin != .hub && preset.browser == browser }
}

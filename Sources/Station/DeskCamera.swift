import Bookplate

// What the camera shows, and what comes of it until it is on the disk.
extension Desk {
    func watchCamera() async {
        guard let live else { return }
        do {
            for try await event in live.events() {
                switch event {
                case .camera(let state): show(state)
                case .captured(let sighting): seen.put(sighting)
                case .refused(let symbol, let refusal): refused(symbol.payload, symbol.kind, .noBook(refusal))
                }
            }
            if !Task.isCancelled { show(.ended) }
        } catch {
            show(.trouble(CameraTrouble(.failing, "frames cannot be read here: \(error). Restart the service.")))
        }
    }

    private func show(_ state: CameraState) {
        // A trouble says more than that nothing comes any more.
        if case .trouble = camera, state == .ended { return }
        guard state != camera else { return }
        camera = state
        report("camera: \(state.line)")
        tell(.camera(state))
    }

    func takeGlances() async {
        guard let live else { return }
        while await pause(Self.glances) {
            let now = live.glance
            // The thread may hang in the driver, and then tells nothing.
            if case .trouble(let trouble) = now.camera, trouble.kind == .stuck { show(now.camera) }
            let glance = Glance(now)
            if glance != self.glance {
                self.glance = glance
                tell(.glance(glance))
            }
        }
    }

    /// Brings what was seen to the disk, however long it takes.
    func captureSeen() async {
        for await _ in seen.news.stream {
            while !Task.isCancelled, let sighting = seen.oldest { await capture(sighting) }
        }
    }

    private func capture(_ sighting: Sighting) async {
        do {
            let items = try await flow.captureUntilPossible(
                [sighting], clock: clock, preset: { await self.batch.preset }, mayWait: { !Task.isCancelled },
                waits: { await self.captureWaits($0) })
            hasArrived()
            _ = await takeCaptured(items, of: [sighting])
        } catch {
            // It is tried once more with all that is left.
            if Task.isCancelled { return }
            hasArrived()
            report("not captured: \(sighting.isbn.digits): \(error)")
            refused(sighting.raw, .isbn, .notCaptured(error))
        }
    }

    /// What is on the way when the service ends is tried once more; then whoever held it up must hold it up again.
    func captureLast() async {
        let last = seen.all
        guard !last.isEmpty, !hasEnded else { return }
        do {
            _ = try await captureNow(last)
        } catch {
            // It was told as not captured in time.
            guard !hasEnded else { return }
            for sighting in last { report("not captured: \(sighting.isbn.digits): \(error)") }
        }
        seen.remove(oldest: last.count)
    }

    private func captureWaits(_ error: any Error) {
        guard captureTrouble.map({ "\($0)" }) != "\(error)" else { return }
        captureTrouble = error
        report("capturing waits, tried again every second: \(error)")
        batchChanged()
    }

    private func hasArrived() {
        seen.remove(oldest: 1)
        if captureTrouble != nil { report("capturing goes on") }
        captureTrouble = nil
    }
}

extension Desk.Glance {
    init(_ glance: LiveScan.Glance) {
        guard case .streaming(_, let format) = glance.camera else { return }
        (width, height) = (format.width, format.height)
        symbols = glance.symbols.map { symbol in
            symbol.corners.all.map { Spot(x: Int($0.x.rounded()), y: Int($0.y.rounded())) }
        }
        hint = glance.hint
        framesPerSecond = Int(glance.framesPerSecond.rounded())
    }
}

extension CameraState {
    /// For the log.
    fileprivate var line: String {
        switch self {
        case .starting: "looking for one"
        case .streaming(let name, let format): "\(name.cleanedLine), \(format)"
        case .trouble(let trouble): "\(trouble)"
        case .ended: "the stream is over"
        }
    }
}

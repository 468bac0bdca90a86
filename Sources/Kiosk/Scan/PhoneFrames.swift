import Bookplate
import Dispatch
import Glibc
import Hummingbird
import Station
import Synchronization

/// The phones whose cameras send frames. Each has a reader of its own, which is kept for a minute when the phone is
/// silent, so that a cut connection captures nothing twice.
///
/// All frames are read one after the other on one queue with a low priority, and each phone may use only a share of its
/// time. So phones can never slow down the station's own camera, whatever they send.
final class PhoneCameras: Sendable {
    /// The largest frame, in bytes. A frame of 1280x720 has some 70,000.
    static let byteLimit = 200_000
    /// The number of phones that may send frames at the same time.
    static let limit = 2
    /// The number of frames that a phone may send per second, and at once after a pause.
    static let rate = 10.0, burst = 4.0
    /// The processor time that a frame may cost, in seconds. A frame that costs more counts as several.
    static let usual = 0.03
    /// The time after which a silent phone no longer counts as one that sends frames.
    static let silence: Duration = .seconds(5)
    /// The time for which a silent phone's reader is kept.
    static let memory: Duration = .seconds(60)

    private struct Phone {
        let scan: PhoneScan
        var lastFrame: Duration
        var isReading = false
        /// The number of frames that it may send now.
        var credit = PhoneCameras.burst
    }

    private let makeScan: @Sendable () throws -> PhoneScan
    private let now: @Sendable () -> Duration
    private let processorTime: @Sendable () -> Duration
    private let phones = Mutex<[Device: Phone]>([:])
    private let queue = DispatchQueue(label: "phone frames", qos: .utility)

    /// - Parameters:
    ///   - now: returns the time on a clock that never goes backwards.
    ///   - processorTime: returns the processor time that the calling thread has used.
    init(
        makeScan: @escaping @Sendable () throws -> PhoneScan,
        now: @escaping @Sendable () -> Duration = { .monotonicNow },
        processorTime: @escaping @Sendable () -> Duration = { .ofThread }
    ) {
        (self.makeScan, self.now, self.processorTime) = (makeScan, now, processorTime)
    }

    /// Reads a frame of a phone.
    ///
    /// - Throws: ``RequestRefusal``: 429 if the phone sends too much, or if too many phones do; 422 if the frame is
    ///   damaged.
    func read(_ jpeg: [UInt8], from device: Device) async throws -> PhoneScan.Reading {
        let scan = try begin(device)
        let (result, time) = await withCheckedContinuation { continuation in
            queue.async { [now, processorTime] in
                let start = processorTime()
                let reading = scan.read(jpeg, at: now())
                continuation.resume(returning: (reading, processorTime() - start))
            }
        }
        end(device, after: time)
        guard let reading = result else {
            throw RequestRefusal(.refused, "The frame is not a whole JPEG of at most 1920x1080.", key: "unsoundFrame")
        }
        return reading
    }

    private func begin(_ device: Device) throws -> PhoneScan {
        let now = now()
        return try phones.withLock { phones in
            phones = phones.filter { $1.isReading || now - $1.lastFrame < Self.memory }
            let others = phones.count { $0.key != device && now - $0.value.lastFrame < Self.silence }
            guard others < Self.limit else { throw RequestRefusal.tooManyPhones }
            var phone = try phones[device] ?? Phone(scan: makeScan(), lastFrame: now)
            phone.credit = min(Self.burst, phone.credit + (now - phone.lastFrame) / .seconds(1) * Self.rate)
            guard !phone.isReading, phone.credit >= 1 else { throw RequestRefusal.tooManyFrames }
            (phone.isReading, phone.lastFrame) = (true, now)
            phones[device] = phone
            return phone.scan
        }
    }

    private func end(_ device: Device, after time: Duration) {
        phones.withLock { phones in
            phones[device]?.isReading = false
            phones[device]?.credit -= max(1, time / .seconds(1) / Self.usual)
        }
    }
}

extension Duration {
    /// The processor time that the calling thread has used.
    fileprivate static var ofThread: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// Captures books with the camera of a phone, whose browser sends its frames.
struct PhoneFramesAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.put, "/api/phones/frame", for: .household, body: .frame, read)] }

    private func read(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let phones = parts.phones else {
            throw RequestRefusal(.noPhotos, "This station reads no frames. Type the ISBN, or use 'scan --image'.")
        }
        let reading = try await parts.uploads.withPicture(of: request, context, limit: PhoneCameras.byteLimit) {
            try await phones.read($0, from: context.device)
        }
        let texts = parts.pages.texts(context)
        let rows = try await capture(reading.detections, context)
        return JSONResponse([
            "width": .integer(reading.width), "height": .integer(reading.height),
            "symbols": .array(reading.symbols.map(\.corners.json)), "hint": JSONValue(reading.hint?.rawValue),
            "rows": .array(rows.map(\.json)),
            "refused": .array(
                reading.refused.map { code in
                    [
                        "payload": .string(String(code.payload.cleanedLine.prefix(200))),
                        "reason": JSONValue(texts.message(for: code.reason)),
                    ]
                }),
        ])
    }

    private func capture(_ seen: [Detection], _ context: KioskContext) async throws -> [Station.Row] {
        guard !seen.isEmpty else { return [] }
        let (name, preset) = (await name(of: context), await parts.preset(of: context))
        return try await parts.ports.station.captureOrEnqueue(
            seen.map {
                var detection = $0
                (detection.device, detection.preset) = (name, preset)
                return detection
            })
    }

    /// Returns the phone's name in the list of sign-ins; `nil` for a browser on this machine, and if the list cannot be
    /// read now.
    private func name(of context: KioskContext) async -> String? {
        guard let signIn = context.signIn else { return nil }
        do {
            return try await context.library.signIns(at: parts.ports.now()).first { $0.id == signIn }?.device
        } catch {
            // A book is worth more than the name of the phone that saw it.
            context.logger.warning("cannot read the phone's name: \(error)")
            return nil
        }
    }
}

extension RequestRefusal {
    fileprivate static let tooManyPhones = RequestRefusal(
        .tooManyPhones, "Two phones are scanning already. End it on one of them, and wait for some seconds.",
        headers: [.retryAfter: "5"])
    fileprivate static let tooManyFrames = RequestRefusal(
        .tooManyFrames, "A phone may send ten frames a second, each after the answer to the one before.",
        headers: [.retryAfter: "1"])
}

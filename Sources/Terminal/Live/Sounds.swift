import Foundation
import Synchronization

/// Three short sounds by which a person knows the result of a capture without looking. They are played by the first player found, or are
/// the terminal's bell if there is none or the person is connected over SSH.
///
/// Playing never blocks: one sound is played at a time, and of those requested meanwhile only the newest.
package final class Sounds: Sendable {
    enum Sound: CaseIterable, Sendable {
        /// Rising.
        case new
        /// The same tone twice.
        case owned
        /// Falling.
        case attention
    }

    /// The players of PipeWire, PulseAudio and ALSA, in this order. Their last argument is the name of a WAV file.
    package static let players: [(name: String, options: [String])] = [
        ("pw-play", []), ("paplay", []), ("aplay", ["-q"]),
    ]
    /// The limit for one sound, since a sound server may hang.
    private let longestPlay: DispatchTimeInterval

    private struct State {
        var isMuted: Bool
        var player: (path: String, options: [String])?
        var isPlaying = false
        /// The number of the player that was started last; the end of an earlier one is ignored.
        var playerNumber = 0
        var next: Sound?
        /// Unlinked files, one for each sound; they disappear with the process.
        var files: [Sound: FileHandle] = [:]
    }

    private let state: Mutex<State>
    /// Starting a process takes milliseconds, for which capturing should not wait.
    private let queue = DispatchQueue(label: "sounds")
    private let ring: @Sendable () -> Void

    /// - Parameters:
    ///   - longestPlay: a player that takes longer is killed, and the bell is used from then on.
    ///   - ring: rings the terminal's bell.
    package init(
        isMuted: Bool, environment: [String: String] = ProcessInfo.processInfo.environment,
        longestPlay: DispatchTimeInterval = .seconds(3), ring: @escaping @Sendable () -> Void
    ) {
        (self.ring, self.longestPlay) = (ring, longestPlay)
        let isElsewhere = ["SSH_CONNECTION", "SSH_TTY"].contains { environment[$0]?.isEmpty == false }
        state = Mutex(State(isMuted: isMuted, player: isElsewhere ? nil : Self.player(path: environment["PATH"] ?? "")))
    }

    var isMuted: Bool {
        get { state.withLock(\.isMuted) }
        set { state.withLock { $0.isMuted = newValue } }
    }

    /// The program that plays the sounds; nil for the terminal's bell.
    package var playerPath: String? { state.withLock { $0.player?.path } }

    func play(_ sound: Sound) {
        let (rings, begins) = state.withLock { state in
            if state.isMuted { return (false, false) }
            if state.player == nil { return (true, false) }
            if state.isPlaying {
                state.next = sound
                return (false, false)
            }
            state.isPlaying = true
            return (false, true)
        }
        if rings { ring() }
        if begins { queue.async { self.start(sound) } }
    }

    private func start(_ sound: Sound) {
        let process = Process()
        let isReady = state.withLock { state in
            guard let player = state.player, let file = state.files[sound] ?? WAV(sound).file() else { return false }
            state.files[sound] = file
            process.executableURL = URL(fileURLWithPath: player.path)
            process.arguments = player.options + ["/dev/stdin"]
            process.standardInput = file
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            return true
        }
        guard isReady else { return giveUp() }
        let number = state.withLock { state in
            state.playerNumber += 1
            return state.playerNumber
        }
        process.terminationHandler = { [self] process in
            queue.async { self.playerEnded(number, hasPlayed: process.terminationStatus == 0) }
        }
        do {
            try process.run()
            queue.asyncAfter(deadline: .now() + longestPlay) {
                // A player that hangs in the driver does not end even now, and is abandoned.
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                self.playerEnded(number, hasPlayed: false)
            }
        } catch {
            giveUp()
        }
    }

    private func playerEnded(_ number: Int, hasPlayed: Bool) {
        let isCurrent = state.withLock { state in
            defer { if state.playerNumber == number { state.playerNumber += 1 } }
            return state.playerNumber == number
        }
        guard isCurrent else { return }
        guard hasPlayed else { return giveUp() }
        let next = state.withLock { state in
            defer { state.next = nil }
            state.isPlaying = state.next != nil
            return state.next
        }
        if let next { start(next) }
    }

    /// Uses the bell from now on, because the player does not work (no sound card, no server).
    private func giveUp() {
        state.withLock { state in (state.player, state.isPlaying, state.next) = (nil, false, nil) }
        ring()
    }

    private static func player(path: String) -> (path: String, options: [String])? {
        for player in players {
            for folder in path.split(separator: ":") where access("\(folder)/\(player.name)", X_OK) == 0 {
                return ("\(folder)/\(player.name)", player.options)
            }
        }
        return nil
    }
}

/// A sound as a WAV file: 16-bit PCM, one channel. Source: Multimedia Programming Interface and Data Specifications 1.0, RIFF WAVE.
struct WAV {
    static let samplesPerSecond = 22_050
    /// The fraction of full scale: loud enough at the shelf, but not in the next room.
    private static let volume = 0.25
    /// Fades at both ends of a tone, without which it clicks.
    private static let fade: Duration = .milliseconds(8)

    private(set) var samples: [Int16] = []

    init(_ sound: Sounds.Sound) {
        switch sound {
        case .new:
            add(hertz: 660, for: .milliseconds(65))
            add(hertz: 990, for: .milliseconds(95))
        case .owned:
            add(hertz: 660, for: .milliseconds(60))
            add(hertz: 0, for: .milliseconds(40))
            add(hertz: 660, for: .milliseconds(60))
        case .attention:
            add(hertz: 520, for: .milliseconds(75))
            add(hertz: 330, for: .milliseconds(115))
        }
    }

    private mutating func add(hertz: Double, for duration: Duration) {
        let count = Int(duration / .seconds(1) * Double(Self.samplesPerSecond))
        let fade = Self.fade / .seconds(1) * Double(Self.samplesPerSecond)
        for index in 0..<count {
            let envelope = min(1, Double(min(index, count - 1 - index)) / fade)
            let wave = sin(2 * .pi * hertz * Double(index) / Double(Self.samplesPerSecond))
            samples.append(Int16(wave * envelope * Self.volume * Double(Int16.max)))
        }
    }

    var bytes: [UInt8] {
        func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        let data = samples.flatMap { little($0) }
        let rate = UInt32(Self.samplesPerSecond)
        let format =
            little(UInt16(1)) + little(UInt16(1)) + little(rate) + little(rate * 2) + little(UInt16(2))
            + little(UInt16(16))
        return Array("RIFF".utf8) + little(UInt32(36 + data.count)) + Array("WAVEfmt ".utf8)
            + little(UInt32(format.count))
            + format + Array("data".utf8) + little(UInt32(data.count)) + data
    }

    /// Returns an unlinked file that holds the sound; nil if none can be created.
    func file() -> FileHandle? {
        var name = Array((NSTemporaryDirectory() + "/bookplate-XXXXXX").utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            return file
        } catch {
            return nil
        }
    }
}

import Foundation
import Synchronization

/// Plays one of three short sounds after a capture, so that a person knows the result without looking at the screen. It
/// uses the first sound player that is installed. Without one, or over SSH, it rings the terminal's bell instead.
///
/// Playing never blocks. One sound is played at a time. If several sounds are requested meanwhile, only the newest of
/// them is played.
package final class Sounds: Sendable {
    enum Sound: CaseIterable, Sendable {
        /// A new book was captured: two tones, the second higher.
        case new
        /// The captured book is already owned: the same tone twice.
        case owned
        /// A book needs attention: two tones, the second lower.
        case attention
    }

    /// The sound players of PipeWire, PulseAudio and ALSA, in the order in which they are tried. Each player takes the
    /// name of a WAV file as its last argument.
    package static let players: [(name: String, options: [String])] = [
        ("pw-play", []), ("paplay", []), ("aplay", ["-q"]),
    ]
    /// The longest time that one sound may take, because a sound server can hang.
    private let longestPlay: DispatchTimeInterval

    private struct State {
        var isMuted: Bool
        var player: (path: String, options: [String])?
        var isPlaying = false
        /// The number of the latest player process. It also increases when that process ends or is abandoned, so that
        /// the end of each process is handled only once.
        var playerNumber = 0
        var next: Sound?
        /// The files that hold the sounds. They are unlinked, so they disappear when the process ends.
        var files: [Sound: FileHandle] = [:]
    }

    private let state: Mutex<State>
    /// The dispatch queue on which sound players are started. Starting a process takes milliseconds, and capturing
    /// should not wait for it.
    private let queue = DispatchQueue(label: "sounds")
    private let ring: @Sendable () -> Void

    /// - Parameters:
    ///   - longestPlay: the longest time for one sound. A player that takes longer is killed, and the bell is used from
    ///     then on.
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

    /// The path of the program that plays the sounds; nil if the terminal's bell is used.
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
                // A player that hangs in the driver does not end even when it is killed, so it is abandoned.
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

    /// Uses the bell from now on, because the player does not work. There may be no sound card or sound server.
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

/// A sound as a WAV file: 16-bit PCM, one channel. Source: Multimedia Programming Interface and Data Specifications
/// 1.0, RIFF WAVE.
struct WAV {
    static let samplesPerSecond = 22_050
    /// The volume as a fraction of full scale. It is loud enough at the shelf, but not heard in the next room.
    private static let volume = 0.25
    /// The length of the fades at both ends of a tone. Without them, the tone would click.
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

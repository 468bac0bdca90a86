import Bookplate
import Capture
import Decoder
import Foundation

/// Measures the CPU time from a camera's buffer to the codes in it, for our decoder and the peer in turns, on the same
/// frames.
///
/// `FrameBench ROUNDS RECORDING.mjpeg...` prints one JSON object for each recording and pixel packing. Started by
/// script/bench.
@main
struct FrameBench {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let rounds = arguments.first.flatMap({ Int($0) }), rounds > 0, arguments.count > 1 else {
            FileHandle.standardError.write(Data("usage: FrameBench ROUNDS RECORDING.mjpeg...\n".utf8))
            exit(64)
        }
        for path in arguments.dropFirst() {
            let jpegs = Self.jpegs(of: try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
            for packing in Packing.allCases {
                let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
                let outcome = try compare(jpegs.map { try Buffer(jpeg: $0, packing: packing) }, rounds: rounds)
                print(try outcome.json(recording: name, packing: packing))
            }
        }
    }

    /// Splits a recording at every SOI: our recordings contain no thumbnails.
    private static func jpegs(of bytes: [UInt8]) -> [[UInt8]] {
        let starts = bytes.indices.dropLast(2).filter { Array(bytes[$0..<($0 + 3)]) == [0xFF, 0xD8, 0xFF] }
        return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }

    private static func compare(_ buffers: [Buffer], rounds: Int) throws -> Outcome {
        var (ours, peer) = (try Ours(), try Peer())
        var outcome = Outcome(frames: buffers.count)
        // The first round warms the caches and grows the memory that is reused.
        for round in 0...rounds {
            for (index, buffer) in buffers.enumerated() {
                let time = Duration.milliseconds(33) * (round * buffers.count + index)
                let (a, codes) = try measured { try ours.read(buffer, at: time) }
                let (b, peerCodes) = try measured { try peer.read(buffer) }
                guard round > 0 else { continue }
                outcome.ours[index].add(a, codes)
                outcome.peer[index].add(b, peerCodes)
            }
        }
        return outcome
    }

    private static func measured<Result>(_ work: () throws -> Result) rethrows -> (Double, Result) {
        let start = cpuTime()
        let result = try work()
        return (cpuTime() - start, result)
    }

    /// Returns the CPU time of this thread, in seconds.
    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The results of both decoders, frame by frame.
struct Outcome {
    struct Frame: Codable {
        /// The CPU time of each round, in milliseconds.
        var times: [Double] = []
        /// The codes read in each round.
        var codes: [[String]] = []

        mutating func add(_ seconds: Double, _ codes: [String]) {
            times.append(seconds * 1000)
            self.codes.append(codes)
        }
    }

    var ours: [Frame]
    var peer: [Frame]

    init(frames: Int) {
        (ours, peer) = (Array(repeating: Frame(), count: frames), Array(repeating: Frame(), count: frames))
    }

    func json(recording: String, packing: Packing) throws -> String {
        struct Line: Codable {
            var recording: String
            var packing: String
            var ours: [Frame]
            var peer: [Frame]
        }
        let line = Line(recording: recording, packing: packing.rawValue, ours: ours, peer: peer)
        return String(decoding: try JSONEncoder().encode(line), as: UTF8.self)
    }
}

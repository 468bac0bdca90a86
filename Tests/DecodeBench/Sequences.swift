import Bookplate
import CodeMaker
import Decoder
import Foundation
import ZBarPeer

/// Hard codes held up to a camera for three frames: compares the codes accepted by the live decoder with those zbar
/// reads in one frame.
enum Sequences {
    struct Outcome: Codable {
        var sequences = 0
        /// The results of zbar for the first frame alone.
        var zbarRight = 0
        var zbarWrong = 0
        /// The results of our decoder after three frames.
        var right = 0
        var wrong = 0
        /// The CPU times of the frames, in milliseconds.
        var worstFrame = 0.0
        var allFrames = 0.0
        var wrongSeeds: [UInt64] = []
    }

    static func run(_ seeds: Range<UInt64>) throws {
        var outcome = Outcome()
        let peer = try ZBarPeer()
        var frame = Frame(width: HardSequence.width, height: HardSequence.height)
        for seed in seeds {
            outcome.sequences += 1
            var sequence = HardSequence(seed: seed)
            sequence.draw(into: &frame)
            let codes = try frame.withLuma { try peer.read($0, width: frame.width, height: frame.height) }
            outcome.zbarRight += codes.contains(sequence.payload) ? 1 : 0
            outcome.zbarWrong += codes.contains { $0 != sequence.payload && $0.hasPrefix("97") } ? 1 : 0
            var (accepted, costs) = try show(seed, &frame)
            if costs.max()! > outcome.worstFrame {
                // Measured again, because other work of the machine does not occur twice.
                costs = zip(costs, try show(seed, &frame).costs).map { min($0, $1) }
            }
            outcome.worstFrame = max(outcome.worstFrame, costs.max()!)
            outcome.allFrames += costs.reduce(0, +)
            if accepted.contains(sequence.payload) { outcome.right += 1 }
            if accepted.contains(where: { $0 != sequence.payload && $0.hasPrefix("97") }) {
                outcome.wrong += 1
                outcome.wrongSeeds.append(seed)
            }
        }
        print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
    }

    /// Prints a line for each sequence: its number, a checksum of its pictures (FNV-1a), and the accepted payloads.
    static func list(_ seeds: Range<UInt64>) throws {
        var frame = Frame(width: HardSequence.width, height: HardSequence.height)
        for seed in seeds {
            var (sequence, checksum) = (HardSequence(seed: seed), 0xcbf2_9ce4_8422_2325 as UInt64)
            for _ in 0..<HardSequence.frames {
                sequence.draw(into: &frame)
                frame.withLuma { for byte in $0 { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01b3 } }
            }
            print(seed, String(checksum, radix: 16), try show(seed, &frame).accepted.sorted().joined(separator: " "))
        }
    }

    /// Shows a sequence to a decoder that has just been started.
    ///
    /// - Returns: the accepted payloads, and the CPU time of each frame in milliseconds.
    private static func show(_ seed: UInt64, _ frame: inout Frame) throws -> (accepted: Set<String>, costs: [Double]) {
        var sequence = HardSequence(seed: seed)
        var reader = try FrameReader()
        var consensus = Consensus()
        var reading = FrameResult()
        var believed: [Symbol] = []
        var (accepted, costs): (Set<String>, [Double]) = ([], [])
        for number in 0..<HardSequence.frames {
            sequence.draw(into: &frame)
            frame.timestamp = .milliseconds(1000 + 33 * number)
            let start = cpuTime()
            reader.read(frame, into: &reading)
            consensus.update(with: reading, at: frame.timestamp, believed: &believed)
            costs.append((cpuTime() - start) * 1000)
            accepted.formUnion(believed.map(\.payload))
        }
        return (accepted, costs)
    }
}

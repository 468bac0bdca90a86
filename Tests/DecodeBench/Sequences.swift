import Bookplate
import CodeMaker
import Decoder
import Foundation
import ZBarPeer

/// Hard codes held before a camera for three frames: what the live decoder believes of them, beside what zbar reads of one frame.
enum Sequences {
    struct Outcome: Codable {
        var sequences = 0
        /// Of the first frame alone.
        var zbarRight = 0
        var zbarWrong = 0
        /// After three frames.
        var right = 0
        var wrong = 0
        /// CPU milliseconds of every frame.
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
                // Once more: what the machine did meanwhile does not come twice.
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

    /// To a camera that has just been started: nothing is known from before.
    ///
    /// - Returns: what was captured, and the CPU milliseconds of each frame.
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

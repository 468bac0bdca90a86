import Bookplate
import Capture
import Decoder
import Foundation
import ZBarPeer

/// Reads photos with our decoder and with libzbar in turns, from the same grey picture in memory, on one thread.
///
/// `DecodeBench ROUNDS PHOTO...` prints one JSON object per photo; `DecodeBench --sequences FROM-TO` prints one for all
/// (``Sequences``), and `DecodeBench --answers FROM-TO` prints what was read in each. Started by script/bench, and by
/// the tests that compare processors.
@main
struct DecodeBench {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if let mode = arguments.first, ["--sequences", "--answers"].contains(mode) {
            let seeds = (arguments.dropFirst().first ?? "").split(separator: "-").compactMap { UInt64($0) }
            guard seeds.count == 2, seeds[0] < seeds[1] else { usage() }
            let range = seeds[0]..<seeds[1]
            return try mode == "--answers" ? Sequences.list(range) : Sequences.run(range)
        }
        guard let rounds = arguments.first.flatMap({ Int($0) }), rounds > 0, arguments.count > 1 else { usage() }
        var decoder = try PhotoReader()
        let peer = try ZBarPeer()
        let encoder = JSONEncoder()
        for path in arguments.dropFirst() {
            let photo = try PhotoFile(path: path)
            // Decompressed once, for all rounds.
            let grey = try photo.luma(atLeast: .max)
            var reading = Reading(path: path, width: photo.width, height: photo.height)
            for _ in 0..<rounds {
                reading.scan.add(try Self.measured { try decoder.decode(photo).map(\.payload) })
                reading.libzbar.add(
                    try Self.measured {
                        try grey.withLuma { try peer.read($0, width: grey.width, height: grey.height) }
                    })
            }
            reading.stages = try explain(photo, &decoder)
            print(String(decoding: try encoder.encode(reading), as: UTF8.self))
        }
    }

    /// Returns the cost of each stage and the codes it read.
    private static func explain(_ photo: PhotoFile, _ decoder: inout PhotoReader) throws -> [Reading.Stage] {
        var explanation: Explanation? = Explanation()
        _ = try decoder.decode(photo, explaining: &explanation)
        return (explanation?.steps ?? []).map {
            Reading.Stage(
                name: $0.stage, places: $0.places.count, cpu: $0.cpu / .milliseconds(1), codes: $0.read)
        }
    }

    private static func usage() -> Never {
        let usage = "usage: DecodeBench ROUNDS PHOTO... | --sequences FROM-TO | --answers FROM-TO\n"
        FileHandle.standardError.write(Data(usage.utf8))
        exit(64)
    }

    private static func measured(_ work: () throws -> [String]) rethrows -> (Double, [String]) {
        let start = cpuTime()
        let codes = try work()
        return (cpuTime() - start, codes)
    }

}

/// Returns the CPU time of this thread, in seconds.
func cpuTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The results of both decoders for one photo.
struct Reading: Codable {
    struct Side: Codable {
        /// The CPU time of each round, in milliseconds.
        var times: [Double] = []
        /// The payloads of the last round.
        var codes: [String] = []

        mutating func add(_ result: (seconds: Double, codes: [String])) {
            times.append(result.seconds * 1000)
            codes = result.codes
        }
    }

    /// One stage, from one additional round.
    struct Stage: Codable {
        var name: String
        var places: Int
        /// The CPU time in milliseconds.
        var cpu: Double
        var codes: [String]
    }

    var path: String
    var width: Int
    var height: Int
    var scan = Side()
    var libzbar = Side()
    var stages: [Stage] = []
}

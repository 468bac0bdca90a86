import Foundation
import Synchronization

/// The resources that a process uses at one moment.
struct Gauges: Sendable {
    /// The time since the first measurement, in hours.
    var hours: Double
    /// Memory that is not backed by a file, in KiB (`RssAnon` in proc_pid_status(5)).
    var memory: Double
    var descriptors: Double
    var threads: Double
    /// The size of the library's write-ahead log, in KiB.
    var log: Double

    static let columns: [(name: String, path: KeyPath<Gauges, Double> & Sendable)] = [
        ("memory in KiB", \.memory), ("descriptors", \.descriptors), ("threads", \.threads), ("log in KiB", \.log),
    ]

    /// - Returns: `nil` if the process has ended.
    init?(of process: pid_t, library: String, hours: Double) {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        else { return nil }
        func number(_ name: String) -> Double? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
        }
        // A process that is ending has no memory any more.
        guard let memory = number("RssAnon"), let threads = number("Threads") else { return nil }
        // There is no log while no process has the library open.
        let size = try? FileManager.default.attributesOfItem(atPath: library + "-wal")[.size] as? Double
        (self.hours, self.memory, self.threads) = (hours, memory, threads)
        (descriptors, log) = (Double(files.count), (size ?? 0) / 1024)
    }
}

extension [Gauges] {
    /// The value at rest: the smallest in each whole three minutes. What is lost for ever raises it as well. Above it,
    /// memory goes up and down by a third as photos and pages come and go, and the log doubles while a backup reads the
    /// library, so the slope of a line through all values or through the largest has an error of several percent.
    func atRest(_ value: KeyPath<Gauges, Double>) -> [(hours: Double, value: Double)] {
        let begin = first?.hours ?? 0
        let windows = Dictionary(grouping: self) { Int(($0.hours - begin) * 20) }.sorted { $0.key < $1.key }
        // The last window has not come to its end, and the smallest of fewer values is larger.
        return windows.dropLast().compactMap { window, gauges in
            gauges.map { $0[keyPath: value] }.min().map { (hours: Double(window) / 20, value: $0) }
        }
    }

    /// Returns the growth of a value in one hour as a fraction of its mean: the slope of the least-squares line through
    /// the values at rest.
    func growth(of value: KeyPath<Gauges, Double>) -> Double {
        let points = atRest(value)
        let (x, y) = (points.map(\.hours), points.map(\.value))
        let (meanX, meanY) = (x.reduce(0, +) / Double(x.count), y.reduce(0, +) / Double(y.count))
        let spread = x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
        guard spread > 0, meanY > 0 else { return 0 }
        return zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) } / spread / meanY
    }
}

/// The measurements so far.
final class Measurements: Sendable {
    /// The time between two measurements. It gives some 700 an hour, enough for a line through them.
    static let pause: Duration = .seconds(5)

    private let values = Mutex<[Gauges]>([])

    var all: [Gauges] { values.withLock(\.self) }
    func add(_ value: Gauges) { values.withLock { $0.append(value) } }
}

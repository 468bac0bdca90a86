import Bookplate
import Foundation
import Library
import LibraryMaker

/// Measures the library on generated libraries of growing size, and prints a table of each part. Started by
/// script/bench.
///
///     LibraryBench [part…] [--long] [--keep FOLDER] [--copies NUMBER] [--readers NUMBER]
///
/// `--keep` reuses the generated libraries in a folder, and keeps new ones there; `--copies` measures only one size.
/// `--readers` compares libraries of one reader and of this number of readers, of 50,000 copies unless `--copies` is
/// given. Each reader has a status of each copy and readings of it.
/// Other work on the machine increases wall time, so each line has the processor time of the whole process too.
///
/// Each part measures a library and returns lines of its report. To add one, write a ``Part`` and name it in ``parts``.
@main
struct LibraryBench {
    struct Part: Sendable {
        let name: String
        /// The measurement and its targets.
        let title: String
        let measure: @Sendable (Generated) async throws -> [Line]
    }

    /// One measurement of one library.
    struct Line: Sendable {
        var name: String
        var milliseconds: Double
        /// The same in processor time, if it was measured.
        var cpu: Double?
        /// The target; `nil` for none.
        var wanted: Double?
        var note = ""

        var shown: String { milliseconds.short + (cpu.map { " (\($0.short))" } ?? "") }
    }

    static let parts: [Part] = [opening, searching, listing, chips, duplicates, tracking, saving, importing]

    static func main() async throws {
        var names = Array(CommandLine.arguments.dropFirst())
        func takeOption(_ name: String) -> String? {
            guard let place = names.firstIndex(of: name), place + 1 < names.count else { return nil }
            defer { names.removeSubrange(place...(place + 1)) }
            return names[place + 1]
        }
        let kept = takeOption("--keep")
        let only = takeOption("--copies").flatMap { Int($0) }
        let readers = takeOption("--readers").flatMap { Int($0) }
        let isLong = names.contains("--long")
        names.removeAll { $0 == "--long" }
        for name in names where !parts.contains(where: { $0.name == name }) {
            print("bench: there is no part \(name); parts are \(parts.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        let usual = readers == nil ? [1_000, 100_000] + (isLong ? [1_000_000] : []) : [50_000]
        let counts = [1] + (readers.map { [$0] } ?? [])
        let libraries = (only.map { [$0] } ?? usual).flatMap { copies in
            counts.map { (copies: copies, readers: $0) }
        }
        let folder = kept ?? NSTemporaryDirectory() + "/bookplate-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { if kept == nil { try? FileManager.default.removeItem(atPath: folder) } }

        var reports: [String: [(library: String, lines: [Line])]] = [:]
        for (copies, readers) in libraries {
            let name = readers > 1 ? "\(copies)-\(readers)" : "\(copies)"
            let generated = try await Generated(at: folder + "/\(name).sqlite", copies: copies, readers: readers)
            for part in parts where names.isEmpty || names.contains(part.name) {
                let lines = try await part.measure(generated)
                reports[part.name, default: []].append((readers > 1 ? "\(readers) readers" : "\(copies)", lines))
            }
            try await generated.close()
            if kept == nil { try generated.remove() }
        }
        for part in parts {
            guard let report = reports[part.name] else { continue }
            print("\n" + part.title)
            Table(report: report).show()
        }
        print("\n  peak memory of this process \(peakMemory()) MiB")
    }
}

/// A generated library, open, and the same texts in plain SQLite.
struct Generated: Sendable {
    let path: String
    let copies: Int
    let library: LibraryFile
    let plain: PlainSearch

    init(at path: String, copies: Int, readers: Int) async throws {
        self.path = path
        self.copies = copies
        let start = ContinuousClock.now
        let isThere = FileManager.default.fileExists(atPath: path + "-plain")
        if !isThere { try await makeLibrary(at: path, copies: copies, sessions: 10_000, readers: readers) }
        let made = ContinuousClock.now
        plain = try PlainSearch(at: path + "-plain", from: isThere ? nil : path)
        let bytes = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        print(
            "\(copies) copies, \(readers) reader\(readers == 1 ? "" : "s"), made in \(Int((made - start).milliseconds / 1000)) s, \(bytes >> 20) MiB; plain SQLite in \(Int((.now - made).milliseconds / 1000)) s"
        )
        fflush(nil)
        library = try LibraryFile.open(at: path)
    }

    func close() async throws {
        try await library.close()
        try plain.close()
    }

    func remove() throws {
        let folder = (path as NSString).deletingLastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }
}

/// Prints a part's lines, the libraries side by side, with the growth from the first to the last.
struct Table {
    let report: [(library: String, lines: [LibraryBench.Line])]

    func show() {
        print(
            "  " + "ms (of CPU) at".padding(34) + report.map { $0.library.leading(18) }.joined()
                + "growth".leading(10) + "wanted".leading(10))
        for (index, line) in (report.last?.lines ?? []).enumerated() {
            let values = report.map { $0.lines[index] }
            let growth = values[values.count - 1].milliseconds / max(values[0].milliseconds, 0.001)
            // Each library has a target. The one of the largest library that has one is shown.
            let wanted = values.last { $0.wanted != nil }
            let isMet = values.allSatisfy { $0.milliseconds < $0.wanted ?? .infinity }
            print(
                "  " + line.name.padding(34) + values.map { $0.shown.leading(18) }.joined()
                    + "×\(growth.short)".leading(10) + (wanted?.wanted.map { "< \(Int($0))" } ?? "").leading(10)
                    + (isMet ? "" : "  MISSED") + (line.note.isEmpty ? "" : "  \(line.note)"))
        }
    }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}

extension Double {
    var short: String { String(format: self < 10 ? "%.2f" : "%.1f", self) }
}

extension String {
    func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func leading(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

/// The value that 95 of 100 do not exceed.
func p95(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int((Double(sorted.count) * 0.95).rounded(.up)) - 1)]
}

func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

/// Measured times in milliseconds.
struct Times {
    private(set) var wall: [Double] = []
    private(set) var cpu: [Double] = []

    /// - Parameter isCounted: false for a run that only warms the caches.
    @discardableResult
    mutating func time<Result>(isCounted: Bool = true, _ body: () async throws -> Result) async rethrows -> Result {
        let (start, startOfCPU) = (ContinuousClock.now, Self.cpuTime)
        let result = try await body()
        let (wall, cpu) = ((.now - start).milliseconds, Self.cpuTime - startOfCPU)
        if isCounted {
            self.wall.append(wall)
            self.cpu.append(cpu)
        }
        return result
    }

    /// - Parameter figure: for example the median.
    func line(
        _ name: String, _ figure: ([Double]) -> Double = median, wanted: Double? = nil, note: String = ""
    ) -> LibraryBench.Line {
        LibraryBench.Line(name: name, milliseconds: figure(wall), cpu: figure(cpu), wanted: wanted, note: note)
    }

    /// The processor time of all threads of this process, in milliseconds.
    private static var cpuTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}

/// Returns the peak memory in MiB (VmHWM of proc(5)).
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1024
}

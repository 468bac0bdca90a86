import Bookplate
import Foundation
import Lookup

/// Builds and asks an offline index for script/bench.
///
///     IndexBench build INDEX [--numbers-only] DUMP...
///     IndexBench number INDEX ISBN...
///     IndexBench titles INDEX ROUNDS < TITLES
@main
struct IndexBench {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { usage() }
        let (command, index) = (arguments[0], arguments[1])
        arguments.removeFirst(2)
        switch command {
        case "build":
            let dumps = arguments.filter { $0 != "--numbers-only" }
            let start = ContinuousClock.now
            let options = try OfflineIndexOptions(languages: [], isNumbersOnly: dumps.count < arguments.count)
            var read: Duration?
            let report = try OfflineIndexBuilder.build(dumpFiles: dumps, to: index, options: options) { progress in
                if progress.stage == .writing, read == nil { read = .now - start }
            }
            print("\(report.editions) \(report.isbns) \(seconds(read ?? .zero)) \(seconds(.now - start))")
            let info = try OfflineIndex(path: index).info()
            print("\(info.numberBytes) \(info.bytes)")
        case "number":
            let source = try OfflineIndex(path: index)
            for digits in arguments {
                let isbn = try ISBN(digits)
                guard case .found(let metadata)? = await source.lookUp([isbn])[isbn] else {
                    print("\(digits) not found")
                    continue
                }
                print("\(digits) \(metadata.title ?? "")")
            }
        case "titles":
            let source = try OfflineIndex(path: index)
            let rounds = arguments.first.flatMap { Int($0) } ?? 1
            while let line = readLine() {
                guard let query = TitleQuery(title: line) else { continue }
                for _ in 0..<rounds {
                    let start = ContinuousClock.now
                    let offers = try await source.find(query, limit: 20) ?? []
                    print(
                        "\(seconds(.now - start) * 1000)\t\(offers.count)\t\(line)\t\(offers.first?.metadata.title ?? "")"
                    )
                }
            }
        default: usage()
        }
    }

    private static func usage() -> Never {
        let usage =
            "usage: IndexBench build INDEX [--numbers-only] DUMP... | number INDEX ISBN... | titles INDEX ROUNDS\n"
        FileHandle.standardError.write(Data(usage.utf8))
        exit(64)
    }

    private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}

import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Compares features.md, beside this file, with the source files and tests that it names.
@Suite struct `The table of features` {
    private struct Row {
        /// The heading above the row.
        let document: String
        let asked: String
        let place: String
        let tests: String

        /// The texts between backticks.
        static func quoted(_ text: String) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    private func rows() throws -> [Row] {
        let text = try String(
            contentsOf: root.appendingPathComponent("Tests/ArchitectureTests/features.md"), encoding: .utf8)
        var document = ""
        return text.split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") { document = String(line.dropFirst(3)) }
            guard line.hasPrefix("| "), !line.hasPrefix("| asked for") else { return nil }
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 3, "\(line)")
            return Row(
                document: document, asked: cells.first ?? "", place: cells.dropFirst().first ?? "",
                tests: cells.last ?? "")
        }
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path))
        return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    }

    // The numbers of rows from the time at which the table was compared with the documents, so that no row gets lost.
    @Test(arguments: [
        ("Feature 03: Date Tracking (Start & Finish Dates)", 28),
        ("Reading Tracker iOS App - Development Instructions", 103), ("Technical Design: Reading Sessions", 41),
        ("Feature 02: Reading Progress Tracking", 25), ("Data-Model Specification – Release v1.0", 37),
        ("The kiosk, the hub and the service", 69),
    ])
    func `has a part for each of the five documents and for the kiosk that loses no row`(document: String, count: Int)
        throws
    {
        #expect(try rows().count { $0.document == document } >= count)
    }

    @Test func `names files that there are`() throws {
        let files = try Set(swiftFiles(below: "Sources"))
        let missing = try rows().flatMap { Row.quoted($0.place) }.filter {
            $0.hasSuffix(".swift") && !files.contains($0)
        }
        #expect(missing.isEmpty)
    }

    @Test func `names tests that there are, or says why there is none`() throws {
        let tests = try swiftFiles(below: "Tests").reduce(into: Set<String>()) { names, file in
            let text = try String(
                contentsOf: root.appendingPathComponent("Tests").appendingPathComponent(file), encoding: .utf8)
            names.formUnion(text.matches(of: /func `([^`\n]+)`/).map { String($0.1) })
        }
        let missing = try rows().flatMap { Row.quoted($0.tests) }.filter { !tests.contains($0) }
        #expect(missing.isEmpty)
        let unproven = try rows().filter { row in
            let isOut = row.tests == "out" && row.place.hasPrefix("**out**")
            return Row.quoted(row.tests).isEmpty && !isOut
        }.map(\.asked)
        #expect(unproven.isEmpty)
    }
}

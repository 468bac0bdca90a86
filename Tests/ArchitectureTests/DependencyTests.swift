import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Compares the section "Dependencies" of docs/architecture.md with Package.swift.
@Suite struct `The dependencies that the architecture lists` {
    private let section: String
    private let package: String

    init() throws {
        let page = try String(contentsOf: root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("Dependencies\n") })
        package = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
    }

    @Test func `are the packages of the program, each named once by its address`() {
        let listed = section.matches(of: /\((https:[^)]+)\)/).map { String($0.1) }
        let used = package.matches(of: /\.package\(\s*url: "([^"]+)"/).map { String($0.1) }
        #expect(used.count > 5)
        #expect(listed.sorted() == used.sorted())
    }

    @Test func `are the C libraries of the program, each named once by its module`() {
        let listed = section.matches(of: /`(C[A-Z]\w*)`/).map { String($0.1) }
        let used = package.matches(of: /\.systemLibrary\(\s*name: "(\w+)"/).map { String($0.1) }
        #expect(used.count > 10)
        #expect(listed.sorted() == used.sorted())
    }

    @Test func `each have a reason`() {
        let lines = section.split(separator: "\n").filter { $0.hasPrefix("- ") }
        let bare = lines.filter { !$0.contains(/: \S.+\.$/) }
        #expect(lines.count > 15 && bare.isEmpty, "\(bare)")
    }
}

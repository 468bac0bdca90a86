import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

@Suite struct `The documents` {
    /// Every Markdown file that people read, by its path.
    static let all: [String] = {
        let pages =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("docs").path)) ?? []
        let others = [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "samples/README.md", "Tests/ArchitectureTests/features.md",
        ]
        return others + pages.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    @Test(arguments: all) func `link only to files and headings that exist`(path: String) throws {
        for target in try links(in: path) where !target.contains("://") {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let folder = root.appendingPathComponent(path).deletingLastPathComponent()
            let file = parts[0].isEmpty ? root.appendingPathComponent(path) : folder.appendingPathComponent(parts[0])
            guard FileManager.default.fileExists(atPath: file.path) else {
                Issue.record("\(path) links to \(target), which does not exist")
                continue
            }
            guard parts.count == 2, file.pathExtension == "md" else { continue }
            let anchors = try headings(of: String(contentsOf: file, encoding: .utf8))
            #expect(anchors.contains(parts[1]), "\(path) links to \(target), and there is no such heading")
        }
    }

    @Test func `say in CONTRIBUTING, in at most 6,000 bytes, which files a change touches`() throws {
        let page = try text("CONTRIBUTING.md")
        #expect(page.utf8.count <= 6000)
        let files = try swiftFiles()
        let named = Set(page.matches(of: /`([\w\/]+\.swift)`/).map { String($0.1) })
        #expect(named.count > 20)
        for name in named {
            #expect(files.contains { "/\($0)".hasSuffix("/" + name) }, "CONTRIBUTING.md: \(name)")
        }
    }

    @Test(arguments: all) func `name only scripts and source files that exist`(path: String) throws {
        let text = try text(path)
        let scripts = text.matches(of: /\bscript\/[a-z0-9-]+/).map { String($0.output) }
        let sources = text.matches(of: /`((?:Sources|Tests|udev)\/[^`\s]+)`/).map { String($0.1) }
        for name in Set(scripts + sources) {
            #expect(FileManager.default.fileExists(atPath: root.appendingPathComponent(name).path), "\(path): \(name)")
        }
    }

    @Test func `name the type of each formula of the tracker`() throws {
        let rows = try text("docs/tracker.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        let names = Set(
            rows.flatMap { row in
                row.split(separator: "|").last?.matches(of: /`(\w+)(?:\.\w+)?`/).map { String($0.1) } ?? []
            })
        #expect(names.count > 15)
        let declared = try swiftFiles().reduce(into: Set<String>()) { names, file in
            let declarations = try text("Sources/\(file)").matches(of: /\b(?:struct|enum|class|actor) (\w+)/)
            names.formUnion(declarations.map { String($0.1) })
        }
        #expect(names.subtracting(declared).isEmpty)
    }

    @Test func `number the calls of the path of one book, each a function that its module declares`() throws {
        let page = try text("docs/architecture.md")
        let calls = page.matches(of: /\| (\d+) \| `(?:(\w+)\.)?(\w+)` \| (\w+) \|/)
        #expect(calls.count > 30 && calls.map { Int($0.1) } == Array(1...calls.count))
        #expect(page.contains("So \(calls.count) calls"))
        for call in calls {
            let (type, function, module) = (call.2.map(String.init) ?? "", String(call.3), String(call.4))
            let declared = try Regex("func \(function)\\b")
            let opened = try Regex("(actor|class|struct|enum|extension) \(type)\\b")
            let declares = try swiftFiles().filter { $0.hasPrefix(module + "/") }.contains { file in
                let source = try text("Sources/\(file)")
                return source.contains(declared) && (type.isEmpty || source.contains(opened))
            }
            #expect(declares, "\(module) has no function \(type).\(function)")
        }
    }

    @Test func `begin with a README of at most 8,000 bytes that links to every page`() throws {
        #expect(try text("README.md").utf8.count <= 8000)
        let linked = Set(try links(in: "README.md"))
        for page in Self.all where page.hasPrefix("docs/") {
            #expect(linked.contains(page), "README.md does not link to \(page)")
        }
    }

    @Test func `name every module in the table of the architecture`() throws {
        let rows = try text("docs/architecture.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = Set(rows.flatMap { $0.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) } })
        let modules = try modules()
        #expect(modules.count > 10)
        #expect(modules.subtracting(named).isEmpty)
    }
}

private func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

/// The Swift files below Sources.
private func swiftFiles() throws -> [String] {
    let sources = root.appendingPathComponent("Sources").path
    let files = try #require(FileManager.default.enumerator(atPath: sources)).compactMap { $0 as? String }
    return files.filter { $0.hasSuffix(".swift") }
}

/// The folders of Sources that hold Swift; the others are C libraries.
private func modules() throws -> Set<String> {
    Set(try swiftFiles().compactMap { $0.split(separator: "/").first.map(String.init) })
}

/// The lines outside code blocks.
private func prose(_ text: String) -> [Substring] {
    var isCode = false
    return text.split(separator: "\n").filter { line in
        let isFence = line.drop { $0 == " " }.hasPrefix("```")
        if isFence { isCode.toggle() }
        return !isCode && !isFence
    }
}

/// The targets of links and pictures.
private func links(in path: String) throws -> [String] {
    try prose(text(path)).flatMap { $0.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
}

/// The anchors that GitHub gives the headings.
private func headings(of text: String) -> Set<String> {
    Set(
        prose(text).filter { $0.hasPrefix("#") }.map { line in
            line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                .replacing(" ", with: "-")
        })
}

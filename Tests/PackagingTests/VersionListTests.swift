import Foundation
import Testing

/// The list that `script/versions` prints, and that the package contains: the versions that the program was built from.
struct VersionList {
    private let text: String
    /// The names in each part, which begins with a heading and ends with an empty line.
    private let parts: [[String]]

    init(_ text: String) {
        self.text = text
        parts = text.components(separatedBy: "\n\n").map { part in
            // A name and a version, which begins with a digit in Swift's packages and in Debian's.
            part.matches(of: /(?m)^(\S+) \d\S*$/).map { String($0.1) }
        }
    }

    /// Checks that nothing that the build uses is missing, and that the copyright names the packages in the program.
    func check(copyright: String) throws {
        try #require(parts.count == 4, "\(text)")
        #expect(text.contains(/^Swift \d+\.\d+/), "\(text)")
        let packages = try Built.text("Package.swift").matches(of: /\.package\(\s*url: "[^"]*\/([^"\/]+)"/)
        #expect(!packages.isEmpty && Set(parts[1]).isSuperset(of: packages.map { String($0.1) }), "\(text)")
        #expect(parts[2] == ["libmd-dev", "libzbar-dev"], "\(text)")
        let build = try #require(Built.text("script/packages").firstMatch(of: /(?m)^build: (.*)$/))
        let libraries = build.1.split(separator: " ").map(String.init).filter { $0.hasSuffix("-dev") }
        #expect(Set(parts[2] + parts[3]) == Set(libraries), "\(text)")

        let words = Set(copyright.split { $0.isWhitespace || $0 == "," }.map(String.init))
        for package in parts[1] { #expect(words.contains(package), "the copyright does not name \(package)") }
        let named = words.filter { $0.hasPrefix("swift-") && $0 != "swift-*" }
        #expect(named.isSubset(of: parts[1]), "the copyright names what is not in the program")
    }
}

@Suite(.enabled(if: Built.has("python3"), "python3 is missing: apt-get install python3"))
struct `The list of versions` {
    @Test func `names everything that a built program was built from`() async throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let ran = try await Ran(["\(Built.root)/script/versions", Built.program], environment: ["PATH": path])
        try #require(ran.status == 0, "\(ran.text)")
        try VersionList(ran.text).check(copyright: Built.text("packaging/debian/copyright"))
    }

    @Test func `is not made for a program of which nobody knows the build`() async throws {
        try await withFolder { folder in
            let ran = try await Ran(["\(Built.root)/script/versions", folder + "/a/release/scan"])
            #expect(ran.status == 1 && ran.text.contains("workspace-state.json does not exist"), "\(ran.text)")
        }
    }
}

import Foundation
import Testing

/// The modules that each module may import. Every module may import the domain, no adapter may import another adapter,
/// and `ScanCommand` may import all modules. Adapters that use the network also import HTTP, those that run other
/// programs Processes, and those that call the kernel SystemCalls.
private let arrows: [String: Set<String>] = [
    "Bookplate": [],
    "Capture": [
        "Bookplate", "SystemPackage", "SystemCalls", "CTurboJPEG", "CPNG", "CWebP", "CHeif", "CV4L2", "CInput",
    ],
    "Certificates": ["Bookplate", "SystemCalls", "SystemPackage", "Cryptography"],
    "Cryptography": ["COpenSSL", "CSHA2"],
    "Decoder": ["Bookplate", "CZBar"],
    "SystemCalls": ["SystemPackage"],
    "Processes": ["CProcess", "SystemPackage", "SystemCalls"],
    "PrintedText": ["Bookplate", "Processes"],
    "HTTP": ["Bookplate", "CCurl"],
    "Lookup": ["Bookplate", "SystemCalls", "HTTP", "CZlib", "CXML", "GRDB", "SystemPackage"],
    "Hub": ["Bookplate", "SystemCalls", "HTTP"],
    "Library": ["Bookplate", "Async", "SystemCalls", "GRDB", "CCrypt", "CSQLite", "Cryptography", "SystemPackage"],
    "Exchange": ["Bookplate"],
    "Async": [],
    "Station": ["Bookplate", "Async"],
    "Terminal": [
        "Bookplate", "Async", "Station", "SystemPackage", "SystemCalls", "Processes", "AsyncAlgorithms",
    ],
    "Kiosk": [
        "Bookplate", "Async", "Station", "Cryptography", "CZlib", "CQREncode", "Hummingbird", "HummingbirdCore",
        "Mustache", "NIOCore", "NIOHTTP1", "Logging", "ServiceLifecycle",
    ],
    "ScanCommand": [
        "Bookplate", "Async", "Capture", "Certificates", "Decoder", "PrintedText", "Processes", "Lookup", "Library",
        "Exchange",
        "Station", "Terminal", "Kiosk", "Hub", "CProcess", "SystemPackage", "SystemCalls", "ArgumentParser",
        "Logging",
    ],
]

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

@Suite struct `The modules` {
    @Test func `know only what the layout lets them know`() throws {
        let package = try dumpedPackage()
        for target in package.targets where target.type == "regular" || target.type == "executable" {
            guard !target.path.hasPrefix("Tests/") else { continue }
            let known = Set(target.dependencies.compactMap(\.name))
            #expect(known == arrows[target.name], "Package.swift gives \(target.name) other arrows than the layout")
        }
        #expect(Set(package.targets.map(\.name)).isSuperset(of: arrows.keys))
    }

    @Test func `import nothing that the layout does not give them`() throws {
        let system: Set = ["Foundation", "FoundationEssentials", "Glibc", "Dispatch", "Synchronization", "GRDBSQLite"]
        for (module, known) in arrows {
            for (file, imports) in try importsBelow("Sources/\(module)") {
                let strange = imports.subtracting(known).subtracting(system)
                #expect(strange.isEmpty, "\(file) imports \(strange.sorted().joined(separator: ", "))")
            }
        }
    }

    @Test func `keep the domain free of files, network and databases`() throws {
        for (file, imports) in try importsBelow("Sources/Bookplate") {
            var known: Set = ["FoundationEssentials", "Dispatch", "Synchronization"]
            // Only the whole of Foundation decomposes characters.
            if file.hasSuffix("Text/FoldedText.swift") { known.insert("Foundation") }
            #expect(imports.isSubset(of: known), "\(file)")
        }
    }
}

private struct Package: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        private let folder: String?
        let dependencies: [Dependency]
        var path: String { folder ?? "" }

        enum CodingKeys: String, CodingKey { case name, type, dependencies, folder = "path" }
    }

    /// `{"byName": ["Bookplate", null]}` or `{"product": ["GRDB", "GRDB.swift", null, null]}`
    struct Dependency: Decodable {
        let name: String?

        init(from decoder: any Decoder) throws {
            let forms = try decoder.singleValueContainer().decode([String: [Part?]].self)
            name = forms.values.first?.first.flatMap { $0?.text }
        }
    }

    struct Part: Decodable {
        let text: String?
        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }

    let targets: [Target]
}

private func dumpedPackage() throws -> Package {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Use a folder of its own, because the folder of this build is locked while its tests run.
    process.arguments = ["swift", "package", "--scratch-path", root.path + "/.build-dump", "dump-package"]
    process.currentDirectoryURL = root
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(Package.self, from: data)
}

private func importsBelow(_ folder: String) throws -> [(file: String, imports: Set<String>)] {
    let names = try #require(FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path))
    return try names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { name in
        let text = try String(
            contentsOf: root.appendingPathComponent(folder).appendingPathComponent(name), encoding: .utf8)
        let lines = text.split(separator: "\n").filter {
            $0.contains("import ") && !$0.hasPrefix("/") && !$0.hasPrefix(" ")
        }
        let modules = lines.compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index + 1 < words.count else { return nil }
            return String(words[words.count - 1].split(separator: ".")[0])
        }
        return ("\(folder)/\(name)", Set(modules))
    }
}

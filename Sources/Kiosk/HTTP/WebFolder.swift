import Bookplate
import Foundation
import Mustache

/// The files that come with the program: templates, texts, and the assets that browsers load. Read once, at the start.
struct WebFolder: Sendable {
    struct Asset: Sendable {
        let bytes: [UInt8]
        /// The bytes in gzip, for browsers that accept it; `nil` where that would be no smaller.
        let compressed: [UInt8]?
        let type: String
        /// The entity tag, made of the bytes: a browser keeps the file for as long as they are the same.
        let tag: String
    }

    let templates: MustacheLibrary
    let texts: [Language: Texts]
    /// The description of the API (OpenAPI 3.1).
    let description: Asset
    /// The assets by path below /assets.
    let assets: [String: Asset]
    /// The imports of the scripts among the assets.
    let imports: ImportGraph

    /// The folder of this program.
    static let ofProgram = Result { try WebFolder() }

    /// - Throws: when the folder is not beside the program, or a file in it is malformed.
    init(path: String = Bundle.module.bundlePath + "/Web") throws {
        PageText.register()
        var templates = MustacheLibrary()
        for file in try Self.files(in: path + "/templates") where file.hasSuffix(".mustache") {
            let text = String(decoding: try Self.bytes(of: path + "/templates/" + file), as: UTF8.self)
            try templates.register(text, named: String(file.dropLast(".mustache".count)))
        }
        self.templates = templates
        texts = try Texts.load(
            try Self.files(in: path + "/texts").filter { $0.hasSuffix(".json") }
                .map { (String($0.dropLast(5)), Data(try Self.bytes(of: path + "/texts/" + $0))) })
        var assets: [String: Asset] = [:]
        for file in try Self.files(in: path + "/assets") {
            assets[file] = try Self.asset(path + "/assets/" + file)
        }
        self.assets = assets
        imports = ImportGraph(
            scripts: assets.filter { $0.key.hasSuffix(".js") }.mapValues { String(decoding: $0.bytes, as: UTF8.self) })
        description = try Self.asset(path + "/openapi.json")
    }

    private static func asset(_ path: String) throws -> Asset {
        let bytes = try bytes(of: path)
        return Asset(bytes: bytes, compressed: Gzip.compressed(bytes), type: type(of: path), tag: tag(of: bytes))
    }

    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func type(of file: String) -> String {
        switch file.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "json", "webmanifest": "application/json"
        default: "application/octet-stream"
        }
    }

    /// FNV-1a, 64 bits: distinguishes versions of one file, and protects nothing.
    private static func tag(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\"" + String(hash, radix: 16) + "\""
    }
}

/// The static imports of scripts, by which a page loads all of its scripts at once.
struct ImportGraph: Sendable {
    /// The scripts that each script imports itself, by name.
    let imports: [String: [String]]

    /// - Parameter scripts: source texts by name. An import is a line of its own: `import { text } from "./texts.js";`
    init(scripts: [String: String]) {
        imports = scripts.mapValues { source in
            source.matches(of: /(?m)^import\s[^"\n]*"\.\/([^"\n]+)";/).map { String($0.output.1) }
        }
    }

    /// The scripts that these import, directly and through others, each once.
    func modules(of entries: [String]) -> [String] {
        var seen = Set(entries)
        var (found, open): ([String], [String]) = ([], entries)
        while let script = open.popLast() {
            for module in imports[script] ?? [] where seen.insert(module).inserted {
                found.append(module)
                open.append(module)
            }
        }
        return found.sorted()
    }
}

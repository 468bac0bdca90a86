import Bookplate
import FoundationEssentials
import Hummingbird

/// Functions that the program provides for the Settings page: its settings, checks of the sources, backups and exports.
/// By default, none of them is available.
public struct Maintenance: Sendable {
    /// Returns the program's effective settings with secrets masked.
    public var settings: @Sendable () async throws -> [ProgramSetting] = { [] }
    /// Stores one of the settings that have a control, or removes it (`nil`). It applies from the next start on. `nil`
    /// if settings cannot be stored. It throws ``KioskError`` for a value that is not allowed.
    public var set: (@Sendable (_ name: String, _ value: String?) throws -> Void)?
    /// The sources that this machine may ask whatever is set in the library; `nil` if the library decides.
    public var sourceOrder: SourceOrder?
    /// Checks the sources in the same way as `scan doctor`. The check takes a few seconds.
    public var sources: @Sendable () async throws -> [SourceStatus] = { [] }
    /// Returns the newest backup in the folder beside the library; `nil` if there is none.
    public var lastBackup: @Sendable () async throws -> KeptBackup? = { nil }
    /// Makes a backup beside the library, and a second backup in the configured folder if there is one. `nil` if the
    /// library is not stored in a file.
    public var backUp: (@Sendable () async throws -> KeptBackup)?
    /// Returns the library's backups that can be read, newest first.
    public var backups: @Sendable () async throws -> [KeptBackup] = { [] }
    /// Keeps the library as a backup, and then asks the program to replace it with another backup. The program ends the
    /// service, replaces the library and begins the service again, so that no part of it shows the previous library.
    /// Throws an error with the code "inUse" if another program has the library open. `nil` if the library cannot be
    /// replaced.
    public var restore: (@Sendable (KeptBackup) async throws -> Void)?
    /// The result of the restore before which this service began; `nil` if there was none.
    public var restored: RestoreOutcome?
    /// Exports a library, as its reader sees it, to a temporary file, which is removed when it is closed. `nil` if
    /// exports are not available.
    public var export: (@Sendable (any KioskLibrary, ExportKind) async throws -> any ExportedFile)?

    public init() {}
}

/// One of the program's settings.
public struct ProgramSetting: Sendable, Equatable {
    public var name: String
    /// The value, which is masked if it is secret; `nil` if it is not set.
    public var value: String?
    /// The origin of the value: "flag", "environment", "file" or "default".
    public var origin: String
    /// The purpose of the setting in one line of English.
    public var explanation: String
    /// The way in which a person changes the setting on a page; `nil` if it is changed only on this machine, because a
    /// wrong value could do harm.
    public var control: Control?

    /// The kinds of fields in which a setting is changed.
    public enum Control: Sendable {
        case toggle
        case text
        /// A text that is never shown.
        case secret
    }

    public init(name: String, value: String?, origin: String, explanation: String, control: Control? = nil) {
        self.name = name
        self.value = value
        self.origin = origin
        self.explanation = explanation
        self.control = control
    }

    /// True if an option or a variable decides, so that storing a value would have no effect.
    var isFixed: Bool { origin == "flag" || origin == "environment" }

    var json: JSONValue {
        [
            "name": .string(name), "value": JSONValue(value), "origin": .string(origin),
            "explanation": .string(explanation),
        ]
    }
}

/// The result of checking a source.
public struct SourceStatus: Sendable, Equatable {
    public var name: String
    /// True if the source works.
    public var isFine: Bool
    /// A text that describes the result of the check.
    public var fact: String
    /// Advice for the person; `nil` if nothing needs to be done.
    public var next: String?

    public init(name: String, isFine: Bool, fact: String, next: String?) {
        self.name = name
        self.isFine = isFine
        self.fact = fact
        self.next = next
    }

    var json: JSONValue {
        ["name": .string(name), "fine": .bool(isFine), "fact": .string(fact), "next": JSONValue(next)]
    }
}

/// A backup of the library.
public struct KeptBackup: Sendable, Equatable {
    public var path: String
    public var at: Date
    public var bytes: Int
    /// The number of books in the backup; `nil` if they were not counted.
    public var books: Int?
    /// The time of the newest change in the backup; `nil` if it is not known.
    public var lastChange: Date?

    public init(path: String, at: Date, bytes: Int, books: Int?, lastChange: Date? = nil) {
        (self.path, self.at, self.bytes) = (path, at, bytes)
        (self.books, self.lastChange) = (books, lastChange)
    }

    /// The name of the file.
    var name: String { String(path.split(separator: "/").last ?? "") }

    /// The backup as JSON. The path is left out because it is useless on other machines.
    var json: JSONValue {
        ["name": .string(name), "at": .string(at.rfc3339), "bytes": .integer(bytes), "books": JSONValue(books)]
    }
}

/// The formats of exports. The raw values are file extensions.
public enum ExportKind: String, Sendable, CaseIterable { case json, csv }

/// A finished export, which can be read once.
public protocol ExportedFile: Sendable {
    /// Reads the next bytes, at most 64 KiB. The result is empty at the end of the export.
    func read() throws -> [UInt8]
}

/// Checks the sources, makes backups and exports the library.
struct MaintenanceAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/sources", for: .household, sources),
            Route(.post, "/api/backups", for: .household, backUp),
            Route(.get, "/export/library.json", for: .household) { try await export(.json, $0, $1) },
            Route(.get, "/export/library.csv", for: .household) { try await export(.csv, $0, $1) },
        ]
    }

    private func sources(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["sources": .array(try await parts.ports.maintenance.sources().map(\.json))])
    }

    private func backUp(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let backUp = parts.ports.maintenance.backUp else { throw RequestRefusal.notFound("folder for backups") }
        return JSONResponse(try await backUp().json)
    }

    private func export(_ kind: ExportKind, _ request: Request, _ context: KioskContext) async throws -> Response {
        guard let export = parts.ports.maintenance.export else { throw RequestRefusal.notFound("export") }
        let file = try await export(context.library, kind)
        let day = CalendarDay(parts.ports.now(), in: parts.ports.zone)
        return Response(
            status: .ok,
            headers: [
                .contentType: kind == .json ? "application/json" : "text/csv; charset=utf-8", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"bookplate-\(day).\(kind.rawValue)\"",
            ],
            body: ResponseBody { writer in
                while case let bytes = try file.read(), !bytes.isEmpty {
                    try await writer.write(ByteBuffer(bytes: bytes))
                }
                try await writer.finish(nil)
            })
    }
}

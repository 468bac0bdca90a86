import Bookplate
import FoundationEssentials

/// What the Settings page shows and does of the program around the library, which this module does not know. Everything has a
/// default that says that it is not there.
public struct Maintenance: Sendable {
    /// The program's settings in force, secrets masked.
    public var settings: @Sendable () async throws -> [ProgramSetting] = { [] }
    /// The sources asked just now, as the doctor tells it; takes seconds.
    public var sources: @Sendable () async throws -> [SourceStatus] = { [] }
    /// The newest backup beside the library; `nil` when there is none.
    public var lastBackup: @Sendable () async throws -> KeptBackup? = { nil }
    /// Makes a backup beside the library, and a second one where the settings name a folder. `nil`: this library has none.
    public var backUp: (@Sendable () async throws -> KeptBackup)?
    /// Writes the library into a file that goes when it is closed. `nil`: it is not written here.
    public var export: (@Sendable (ExportKind) async throws -> any ExportedFile)?

    public init() {}
}

/// One of the program's settings, as it may be shown.
public struct ProgramSetting: Sendable, Equatable {
    public var name: String
    /// Masked where it is secret; `nil` when it is not set.
    public var value: String?
    /// Where it comes from: "flag", "environment", "file", "default".
    public var origin: String
    /// What it is for, in one line of English.
    public var explanation: String

    public init(name: String, value: String?, origin: String, explanation: String) {
        self.name = name
        self.value = value
        self.origin = origin
        self.explanation = explanation
    }

    var json: JSONValue {
        [
            "name": .string(name), "value": JSONValue(value), "origin": .string(origin),
            "explanation": .string(explanation),
        ]
    }
}

/// How one source answered.
public struct SourceStatus: Sendable, Equatable {
    public var name: String
    /// Whether it is as it should be.
    public var isFine: Bool
    /// What was seen.
    public var fact: String
    /// What a person can do about it.
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

/// A backup that was made.
public struct KeptBackup: Sendable, Equatable {
    public var path: String
    public var at: Date
    public var bytes: Int
    /// `nil` when it was not counted.
    public var books: Int?

    public init(path: String, at: Date, bytes: Int, books: Int?) {
        self.path = path
        self.at = at
        self.bytes = bytes
        self.books = books
    }

    /// Without the path: who looks from another machine has no use of it.
    var json: JSONValue {
        ["at": .string(at.rfc3339), "bytes": .integer(bytes), "books": JSONValue(books)]
    }
}

/// As what a library can be had. Raw values are the files' endings.
public enum ExportKind: String, Sendable, CaseIterable { case json, csv }

/// A written export, read once from its beginning.
public protocol ExportedFile: Sendable {
    /// - Returns: the next bytes, at most 64 KiB; empty at the end.
    func read() throws -> [UInt8]
}

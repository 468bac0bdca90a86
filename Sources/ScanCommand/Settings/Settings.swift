import ArgumentParser
import Bookplate
import Foundation
import Lookup
import Synchronization
import SystemCalls
import Terminal

/// The settings in effect, each with its origin.
struct Settings {
    enum Level: String { case flag, environment, file, standard = "default" }

    private var values: [Setting: (value: String, level: Level)] = [:]
    let paths: Paths
    /// The sources that the environment allows; nil if they are set in the library. A variable that names no source
    /// must not lead to requests that nobody wants.
    let sourceOrder: SourceOrder?

    /// The environment variable that overrides the sources that are set in the library.
    static let sourcesVariable = "BOOKPLATE_SOURCES"

    /// - Parameter flags: the values from the command line, which override all others.
    /// - Throws: ``CommandError`` if the settings file cannot be read or is invalid.
    init(
        flags: [Setting: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        paths = Paths(environment: environment)
        if let text = environment[Self.sourcesVariable], !text.isEmpty {
            guard let order = SourceOrder(parsing: text) else {
                throw CommandError(
                    .configuration,
                    "\(Self.sourcesVariable) is \"\(text.prefix(80).printable)\"; it must be \(LibrarySetting.sources.allowed)."
                )
            }
            sourceOrder = order
        } else {
            sourceOrder = nil
        }
        let file = try SettingsFile(path: paths.settingsFile).read()
        for setting in Setting.allCases {
            if let value = flags[setting] {
                values[setting] = (value, .flag)
            } else if let value = environment[setting.environmentName], !value.isEmpty {
                values[setting] = (value, .environment)
            } else if let value = file[setting] {
                values[setting] = (value, .file)
            } else {
                values[setting] = (setting.defaultValue(paths), .standard)
            }
        }
    }

    /// The value in effect; `nil` if it is empty.
    subscript(_ setting: Setting) -> String? {
        values[setting].flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    func level(of setting: Setting) -> Level { values[setting]?.level ?? .standard }

    /// Returns true for "1", "true", "yes" and "on".
    static func means(on value: String?) -> Bool { ["1", "true", "yes", "on"].contains(value?.lowercased()) }

    /// Checks that the value of a setting that can be on or off clearly means one of the two. A wrong guess could lead
    /// to the use of a network that must not be used.
    ///
    /// - Throws: ``CommandError`` if the value is neither on nor off.
    static func checkSwitch(_ setting: Setting, _ value: String?) throws {
        guard let value, !means(on: value), !["0", "false", "no", "off"].contains(value.lowercased()) else { return }
        throw CommandError(
            .configuration, "\(setting.rawValue) is \"\(value.prefix(40).printable)\"; it must be \"1\" or \"0\".")
    }

    /// Returns the value in a form that may be shown. A secret is masked.
    func shown(_ setting: Setting) -> String? {
        guard let value = self[setting] else { return nil }
        return setting.isSecret ? String(repeating: "•", count: 8) + value.suffix(value.count > 12 ? 4 : 0) : value
    }
}

/// The settings file: one JSON object of strings. Only its owner can read it, because it may hold an API key.
struct SettingsFile {
    let path: String

    /// - Returns: an empty dictionary if there is no file.
    /// - Throws: ``CommandError`` if the file cannot be read or is invalid.
    func read() throws -> [Setting: String] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readFile(path, limit: 1 << 20)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return [:] }
            throw CommandError(
                error.isAboutPath ? .configuration : .inputOutput,
                "cannot read the settings in \(path): \(error.errno).")
        }
        let object: [String: String]
        do {
            object = try JSONDecoder().decode([String: String].self, from: Data(bytes))
        } catch {
            let place = Self.wrongValue(error).map { ": the value of \"\($0.printable)\" is not a string" } ?? ""
            throw CommandError(
                .configuration,
                "the settings in \(path) are not a JSON object with strings as values\(place). Correct the file, or delete it to start over."
            )
        }
        var values: [Setting: String] = [:]
        for (name, value) in object {
            guard let setting = Setting(rawValue: name) else {
                throw CommandError(
                    .configuration,
                    "unknown setting \"\(name.prefix(40).printable)\" in \(path). Known settings: "
                        + Setting.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            values[setting] = value
        }
        return values
    }

    /// Returns the name of the value that is not a string; `nil` if the whole file has another form.
    private static func wrongValue(_ error: any Error) -> String? {
        switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            context.codingPath.last?.stringValue
        default: nil
        }
    }

    /// Changes one value, or removes it (`nil`).
    ///
    /// - Throws: an error if the values do not work together, or if the file cannot be read or written.
    func change(_ setting: Setting, to value: String?) throws {
        // Two pages of the kiosk may change two settings at the same moment.
        try Self.changing.withLock { _ in
            var values = try read()
            values[setting] = value
            try Wiring.check(values)
            try write(values)
        }
    }

    private static let changing = Mutex(())

    /// Replaces the file completely or not at all. The settings are on the disk when this function returns.
    func write(_ values: [Setting: String]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }))
        do throws(FileError) {
            try createFolder(folder(of: path))
            try replaceFile(path, with: data + Data("\n".utf8), mode: 0o600)
        } catch {
            throw CommandError(.inputOutput, "cannot write the settings to \(path): \(error.errno).")
        }
    }
}

/// The settings of the program. A flag overrides the environment, the environment overrides the settings file, and the
/// file overrides the default.
enum Setting: String, CaseIterable {
    case library, reader, backupFolder, index, camera, cameraSize, openLibraryURL, googleBooksURL, coversURL,
        googleBooksKey, contact, caFile, offline, listen, tls, tlsCertificate, tlsKey
    /// The defaults of the lists of books.
    case sort, limit, columns
    /// The addresses of the national catalogues and of the sources for all books.
    case dnbURL, bnfURL, bnURL, librisURL, openBDURL, k10plusURL, locURL, citoidURL

    /// The settings for the addresses of catalogues.
    static let catalogues: [SourceName: Setting] = [
        .dnb: .dnbURL, .bnf: .bnfURL, .bn: .bnURL, .libris: .librisURL, .openBD: .openBDURL, .k10plus: .k10plusURL,
        .loc: .locURL, .citoid: .citoidURL,
    ]

    private var catalogue: SourceName? { Self.catalogues.first { $0.value == self }?.key }

    /// The environment variable for the setting.
    var environmentName: String {
        switch self {
        case .library: "BOOKPLATE_LIBRARY"
        case .reader: "BOOKPLATE_READER"
        case .backupFolder: "BOOKPLATE_BACKUP_FOLDER"
        case .index: "BOOKPLATE_INDEX"
        case .camera: "BOOKPLATE_CAMERA"
        case .cameraSize: "BOOKPLATE_CAMERA_SIZE"
        case .openLibraryURL: "BOOKPLATE_OPENLIBRARY_URL"
        case .googleBooksURL: "BOOKPLATE_GOOGLEBOOKS_URL"
        case .coversURL: "BOOKPLATE_COVERS_URL"
        case .googleBooksKey: "BOOKPLATE_GOOGLEBOOKS_KEY"
        case .contact: "BOOKPLATE_CONTACT"
        case .caFile: "BOOKPLATE_CA_FILE"
        case .offline: "BOOKPLATE_OFFLINE"
        case .listen: "BOOKPLATE_LISTEN"
        case .tls: "BOOKPLATE_TLS"
        case .tlsCertificate: "BOOKPLATE_TLS_CERTIFICATE"
        case .tlsKey: "BOOKPLATE_TLS_KEY"
        case .sort: "BOOKPLATE_SORT"
        case .limit: "BOOKPLATE_LIMIT"
        case .columns: "BOOKPLATE_COLUMNS"
        // The addresses of the catalogues.
        default: "BOOKPLATE_\(rawValue.dropLast(3).uppercased())_URL"
        }
    }

    /// The purpose of the setting in one line.
    var explanation: String {
        switch self {
        case .library: "the library file"
        case .reader: "the reader whose status, sessions and stats are meant, if there are several"
        case .backupFolder: "a second folder for backups, such as one on a USB stick; it is used only if it exists"
        case .index: "the offline index, a file that 'scan index build' creates"
        case .camera: "the camera: a device such as /dev/bookplate, or part of the camera's name"
        case .cameraSize: "the frame size to request from the camera"
        case .openLibraryURL: "the base address of Open Library"
        case .googleBooksURL: "the base address of the Google Books API"
        case .coversURL: "the base address of Open Library's covers"
        case .googleBooksKey: "the API key for Google Books (console.cloud.google.com, Books API)"
        case .contact: "an e-mail or web address, sent to the sources so that they can reach you"
        case .caFile: "a PEM file with the certificate authorities to trust instead of the system's"
        case .offline: "1 to turn online lookup off, 0 to turn it on"
        case .listen: "the address of 'scan kiosk': 127.0.0.1 for this machine alone, 0.0.0.0 for all its networks"
        case .tls: "1 to let other devices use 'scan kiosk' over https, which their cameras need, 0 for plain http"
        case .tlsCertificate: "a PEM file with the certificate for https; without one, the station makes it itself"
        case .tlsKey: "the PEM file with the private key of 'tlsCertificate'"
        case .sort: "the order of lists of books: \(ListDefaults.sorts)"
        case .limit: "the maximum number of books in a list (with --json: all)"
        case .columns: "the columns of lists of books, separated by commas"
        default: "the base address of the catalogue \(catalogue?.displayName ?? "")"
        }
    }

    var isSecret: Bool { self == .googleBooksKey }

    /// True if the value is the path of a file or folder. The settings file stores it as an absolute path.
    var isPath: Bool {
        [.library, .backupFolder, .index, .caFile, .tlsCertificate, .tlsKey].contains(self)
    }

    /// Returns the value that applies if the setting is set nowhere; an empty string if there is no such value.
    func defaultValue(_ paths: Paths) -> String {
        switch self {
        case .library: paths.defaultLibrary
        case .index: paths.defaultIndex ?? ""
        case .cameraSize: "1280x720"
        case .openLibraryURL: "https://openlibrary.org"
        case .googleBooksURL: "https://www.googleapis.com"
        case .coversURL: "https://covers.openlibrary.org"
        case .backupFolder, .camera, .reader, .googleBooksKey, .contact, .caFile, .sort, .limit, .columns,
            .tlsCertificate, .tlsKey:
            ""
        case .offline, .tls: "0"
        case .listen: "127.0.0.1"
        default: catalogue.flatMap(LookupConfiguration.publicAddress) ?? ""
        }
    }
}

/// The defaults of the lists of books, for lists without the options `--sort`, `--limit` and `--columns`.
struct ListDefaults: Equatable {
    /// The order; `nil` for the order of the list.
    let sort: BookQuery.Sort?
    /// The maximum number of books that are shown to a person; `nil` for the limit of the list.
    let limit: Int?
    /// The names of the columns, in order; `nil` to print lines.
    let columns: [String]?

    static let sorts = BookQuery.Sort.allCases.map(\.rawValue).joined(separator: ", ")

    /// - Parameter value: returns the value of a setting; `nil` if it is not set.
    /// - Throws: ``CommandError`` for an order or a column that does not exist, or a limit that is no number from 1 on.
    init(_ value: (Setting) -> String?) throws {
        sort = try value(.sort).map { text in
            guard let sort = BookQuery.Sort(rawValue: text) else {
                throw CommandError(
                    .configuration, "sort is \"\(text.prefix(40).printable)\"; it must be one of \(Self.sorts).")
            }
            return sort
        }
        limit = try value(.limit).map { text in
            guard let limit = Int(text), limit > 0 else {
                throw CommandError(
                    .configuration, "limit is \"\(text.prefix(40).printable)\"; it must be a number, 1 or more.")
            }
            return limit
        }
        do {
            columns = try value(.columns).map { try RowFields.books.fields($0, for: "columns").map(\.name) }
        } catch let error as CommandError {
            throw CommandError(.configuration, error.description)
        }
    }
}

extension Settings {
    /// The defaults of the lists of books.
    ///
    /// - Throws: ``CommandError`` for an invalid value.
    func listDefaults() throws -> ListDefaults { try ListDefaults { self[$0] } }
}

/// A setting named on the command line. Settings of the program are stored in the settings file, and settings of the
/// library in the library.
enum NamedSetting: Equatable {
    case program(Setting)
    case library(LibrarySetting)

    var name: String {
        switch self {
        case .program(let setting): setting.rawValue
        case .library(let setting): setting.rawValue
        }
    }
}

extension NamedSetting: ExpressibleByArgument {
    init?(argument: String) {
        if let setting = Setting(rawValue: argument) {
            self = .program(setting)
        } else if let setting = LibrarySetting(rawValue: argument) {
            self = .library(setting)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { Setting.allCases.map(\.rawValue) + LibrarySetting.allCases.map(\.rawValue) }
}

/// The default paths (XDG Base Directory Specification 0.8).
struct Paths {
    let environment: [String: String]

    /// The settings file: `$XDG_CONFIG_HOME/bookplate/settings.json`
    var settingsFile: String { base("XDG_CONFIG_HOME", ".config") + "/bookplate/settings.json" }

    /// The file with the hubs of this station: `$XDG_CONFIG_HOME/bookplate/hub.json`
    var hubsFile: String { base("XDG_CONFIG_HOME", ".config") + "/bookplate/hub.json" }

    /// The folder with the keys of the kiosk's certificates: `$XDG_STATE_HOME/bookplate/tls`. It is not in the
    /// library's folder, which people copy and share.
    var tlsFolder: String { base("XDG_STATE_HOME", ".local/state") + "/bookplate/tls" }

    /// The rate limits of the sources: `$XDG_STATE_HOME/bookplate/rate-limits.json`
    var rateLimitsFile: String { base("XDG_STATE_HOME", ".local/state") + "/bookplate/rate-limits.json" }

    /// The service's library if this user may use it, or else a library in the user's own data folder.
    var defaultLibrary: String {
        let (folder, own) = ("/var/lib/bookplate", base("XDG_DATA_HOME", ".local/share") + "/bookplate/library.sqlite")
        let service = folder + "/library.sqlite"
        if access(service, R_OK | W_OK) == 0 { return service }
        // If the service's library is missing, a user of its group who has no other library creates or restores it.
        let isFree = access(service, F_OK) != 0 && access(own, F_OK) != 0
        return isFree && access(folder, R_OK | W_OK | X_OK) == 0 ? service : own
    }

    /// The offline index, `$XDG_DATA_HOME/bookplate/index.sqlite`; `nil` if there is no such file.
    var defaultIndex: String? {
        let path = base("XDG_DATA_HOME", ".local/share") + "/bookplate/index.sqlite"
        return access(path, R_OK) == 0 ? path : nil
    }

    /// Returns the base directory that an environment variable names, or else the fallback below the home folder. A
    /// path that is not absolute counts as unset, as the specification requires.
    private func base(_ name: String, _ fallback: String) -> String {
        if let path = environment[name], path.hasPrefix("/") { return path }
        let home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/" + fallback
    }
}

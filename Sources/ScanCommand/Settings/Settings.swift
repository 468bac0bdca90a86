import ArgumentParser
import Bookplate
import Foundation

/// The settings in force, each with where it came from.
struct Settings {
    enum Level: String { case flag, environment, file, standard = "default" }

    private var values: [Setting: (value: String, level: Level)] = [:]
    let places: Paths

    /// - Parameter flags: what the command line says; wins over everything.
    /// - Throws: ``CommandError`` when the settings file cannot be read or makes no sense.
    init(
        flags: [Setting: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        places = Paths(environment: environment)
        let file = try SettingsFile(path: places.settingsFile).read()
        for setting in Setting.allCases {
            if let value = flags[setting] {
                values[setting] = (value, .flag)
            } else if let value = environment[setting.environmentName], !value.isEmpty {
                values[setting] = (value, .environment)
            } else if let value = file[setting] {
                values[setting] = (value, .file)
            } else {
                values[setting] = (setting.defaultValue(places), .standard)
            }
        }
    }

    /// The value in force, `nil` when it is empty.
    subscript(_ setting: Setting) -> String? {
        values[setting].flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    func level(of setting: Setting) -> Level { values[setting]?.level ?? .standard }

    /// "1", "true", "yes" and "on" mean on.
    static func means(on value: String?) -> Bool { ["1", "true", "yes", "on"].contains(value?.lowercased()) }

    /// - Throws: ``CommandError`` for a switch that says neither on nor off: guessing could ask a network that must not be asked.
    static func checkSwitch(_ setting: Setting, _ value: String?) throws {
        guard let value, !means(on: value), !["0", "false", "no", "off"].contains(value.lowercased()) else { return }
        throw CommandError(.configuration, "\(setting.rawValue) is \"\(value.prefix(40).printable)\"; it is 1 or 0.")
    }

    /// As it may be shown: secrets masked.
    func shown(_ setting: Setting) -> String? {
        guard let value = self[setting] else { return nil }
        return setting.isSecret ? String(repeating: "•", count: 8) + value.suffix(value.count > 12 ? 4 : 0) : value
    }
}

/// The settings file: one JSON object of texts, readable by its owner only because it may hold a key.
struct SettingsFile {
    let path: String

    /// - Returns: nothing when there is no file.
    func read() throws -> [Setting: String] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return [:]
        } catch {
            throw CommandError(.configuration, "cannot read the settings in \(path): \(error.localizedDescription)")
        }
        guard data.count < 1 << 20, let object = try? JSONDecoder().decode([String: String].self, from: data) else {
            throw CommandError(
                .configuration,
                "the settings in \(path) are no JSON object of texts. Mend the file, or delete it to start anew.")
        }
        var values: [Setting: String] = [:]
        for (name, value) in object {
            guard let setting = Setting(rawValue: name) else {
                throw CommandError(
                    .configuration,
                    "the settings in \(path) name \"\(name.prefix(40).printable)\", which is none. Known: "
                        + Setting.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            values[setting] = value
        }
        return values
    }

    /// Replaces the file whole: written beside it, fsynced, renamed.
    func write(_ values: [Setting: String]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let data = try encoder.encode(Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }))
            let temporary = folder.appendingPathComponent(".settings-\(UUID().uuidString).json").path
            guard
                FileManager.default.createFile(atPath: temporary, contents: nil, attributes: [.posixPermissions: 0o600])
            else {
                throw CocoaError(.fileWriteNoPermission)
            }
            // It may hold a key; once it has its name there is nothing to remove.
            defer { unlink(temporary) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary))
            try handle.write(contentsOf: data + Data("\n".utf8))
            try handle.synchronize()
            try handle.close()
            guard rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw CommandError(.inputOutput, "cannot write the settings to \(path): \(error.localizedDescription)")
        }
    }
}

/// Every setting there is. Flag > environment > file > default.
enum Setting: String, CaseIterable {
    case library, backupFolder, index, camera, cameraSize, openLibraryURL, googleBooksURL, coversURL, googleBooksKey,
        contact, caFile,
        offline

    /// The environment variable that sets it.
    var environmentName: String {
        switch self {
        case .library: "BOOKPLATE_LIBRARY"
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
        }
    }

    /// What it is for, in one line.
    var explanation: String {
        switch self {
        case .library: "the library file"
        case .backupFolder: "a second folder for backups, on a stick perhaps: used when it is there"
        case .index: "the offline index, made by scan index build"
        case .camera: "the camera: a device such as /dev/bookplate, or part of its name"
        case .cameraSize: "the size that the camera is asked for"
        case .openLibraryURL: "base address of Open Library"
        case .googleBooksURL: "base address of the Google Books API"
        case .coversURL: "base address of Open Library's covers"
        case .googleBooksKey: "API key for Google Books (console.cloud.google.com, Books API)"
        case .contact: "an e-mail or web address, sent to the sources so that they can reach you"
        case .caFile: "certificate authorities to trust instead of the system's (PEM)"
        case .offline: "1 to ask no online source"
        }
    }

    var isSecret: Bool { self == .googleBooksKey }

    /// A file or folder; in the settings file always from the root.
    var isPath: Bool { self == .library || self == .backupFolder || self == .index || self == .caFile }

    /// What holds when nothing is set; empty for none.
    func defaultValue(_ places: Paths) -> String {
        switch self {
        case .library: places.defaultLibrary
        case .index: places.defaultIndex ?? ""
        case .cameraSize: "1280x720"
        case .openLibraryURL: "https://openlibrary.org"
        case .googleBooksURL: "https://www.googleapis.com"
        case .coversURL: "https://covers.openlibrary.org"
        case .backupFolder, .camera, .googleBooksKey, .contact, .caFile: ""
        case .offline: "0"
        }
    }
}

/// A setting as a person names it: of the program, kept in the settings file, or of the library, kept in it.
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

/// Where things are when nobody says otherwise (XDG Base Directory Specification 0.8).
struct Paths {
    let environment: [String: String]

    /// `$XDG_CONFIG_HOME/bookplate/settings.json`
    var settingsFile: String { base("XDG_CONFIG_HOME", ".config") + "/bookplate/settings.json" }

    /// `$XDG_CONFIG_HOME/bookplate/hub.json`
    var hubsFile: String { base("XDG_CONFIG_HOME", ".config") + "/bookplate/hub.json" }

    /// The service's library when this person may use it, else one in the person's own data folder.
    var defaultLibrary: String {
        let (folder, own) = ("/var/lib/bookplate", base("XDG_DATA_HOME", ".local/share") + "/bookplate/library.sqlite")
        let service = folder + "/library.sqlite"
        if access(service, R_OK | W_OK) == 0 { return service }
        // Before the service has made it, and after it was lost: a person of its group who has no other makes it, or brings it back.
        let isFree = access(service, F_OK) != 0 && access(own, F_OK) != 0
        return isFree && access(folder, R_OK | W_OK | X_OK) == 0 ? service : own
    }

    /// `$XDG_DATA_HOME/bookplate/index.sqlite` where there is one.
    var defaultIndex: String? {
        let path = base("XDG_DATA_HOME", ".local/share") + "/bookplate/index.sqlite"
        return access(path, R_OK) == 0 ? path : nil
    }

    /// A base directory that is not absolute counts as unset, as the specification says.
    private func base(_ name: String, _ fallback: String) -> String {
        if let path = environment[name], path.hasPrefix("/") { return path }
        let home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/" + fallback
    }
}

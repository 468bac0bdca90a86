import Foundation

/// The settings in force, each with where it came from.
struct Settings {
    enum Level: String { case flag, environment, file, standard = "default" }

    private var values: [Setting: (value: String, level: Level)] = [:]
    let places: Places

    /// - Parameter flags: what the command line says; wins over everything.
    /// - Throws: ``Complaint`` when the settings file cannot be read or makes no sense.
    init(
        flags: [Setting: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        places = Places(environment: environment)
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

    /// - Throws: ``Complaint`` for a switch that says neither on nor off: guessing could ask a network that must not be asked.
    static func checkSwitch(_ setting: Setting, _ value: String?) throws {
        guard let value, !means(on: value), !["0", "false", "no", "off"].contains(value.lowercased()) else { return }
        throw Complaint(.configuration, "\(setting.rawValue) is \"\(value.prefix(40).printable)\"; it is 1 or 0.")
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
            throw Complaint(.configuration, "cannot read the settings in \(path): \(error.localizedDescription)")
        }
        guard data.count < 1 << 20, let object = try? JSONDecoder().decode([String: String].self, from: data) else {
            throw Complaint(
                .configuration,
                "the settings in \(path) are no JSON object of texts. Mend the file, or delete it to start anew.")
        }
        var values: [Setting: String] = [:]
        for (name, value) in object {
            guard let setting = Setting(rawValue: name) else {
                throw Complaint(
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
            throw Complaint(.inputOutput, "cannot write the settings to \(path): \(error.localizedDescription)")
        }
    }
}

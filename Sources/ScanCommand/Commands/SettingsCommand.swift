import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Settings: show, get, set, unset.",
        discussion: """
            A command-line option overrides the environment, the environment overrides
            the settings file, and the settings file overrides the default. Goals,
            automatic dates, the guest view and the sources are stored in the library.
            To undo a change to these settings of the library, run 'scan undo'.

              scan settings
              scan settings get library
              scan settings set contact me@example.org
              scan settings set yearlyGoal 50
              scan settings set sources openLibrary,dnb
              scan settings unset contact
            """,
        subcommands: [Show.self, Get.self, Set.self, Unset.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show every setting with its value and origin.",
            discussion: "  scan settings show\n  scan settings show --json")
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let settings = try paths.settings()
            for setting in Setting.allCases where setting != .reader || settings[.reader] != nil {
                show(ShownSetting(setting, settings))
            }
            try await showLibrarySettings(settings)
            if !output.json { Output.shared.printNotice("The settings file is \(settings.paths.settingsFile).") }
        }

        /// Shows the library's settings. If the library cannot be opened, the error is thrown after all settings are
        /// shown.
        private func showLibrarySettings(_ settings: Settings) async throws {
            var stored: [String: String] = [:]
            var failure: (any Error)?
            var note = "There is no library yet, so the settings stored in it are shown with their defaults."
            do {
                if let library = try Wiring(settings: settings, isForAllReaders: true).openExistingLibrary() {
                    stored = try await library.settings()
                    note = ""
                }
            } catch {
                (failure, note) = (error, "")
            }
            for setting in LibrarySetting.allCases {
                show(ShownSetting(setting, settings, stored: failure == nil ? stored : nil))
            }
            if !note.isEmpty, !output.json { Output.shared.printNotice(note) }
            if let failure { throw failure }
        }

        private func show(_ setting: ShownSetting) {
            if output.json { return Output.shared.printLine(setting.json) }
            let rest = [setting.environment, setting.explanation].compactMap(\.self).joined(separator: ": ")
            Output.shared.printLine(
                "\(setting.name.padded(15)) \((setting.value?.printable ?? "–").padded(34)) "
                    + "\(setting.origin.padded(11)) " + Output.shared.style.faint(rest))
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get", abstract: "Print the value of one setting.",
            discussion: """
                Prints the value in effect, alone on its line. If the setting has no value
                and no default, prints nothing, and ends with exit code 3. The API key is
                shown masked.

                  scan settings get cameraSize
                  scan settings get library --json
                """)
        @Argument(help: "The name of the setting.", completion: .list(NamedSetting.allValueStrings)) var name:
            NamedSetting
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let settings = try paths.settings()
            let shown =
                switch name {
                case .program(let setting): ShownSetting(setting, settings)
                case .library(let setting):
                    ShownSetting(
                        setting, settings,
                        stored: try await Wiring(settings: settings).openExistingLibrary()?.settings() ?? [:])
                }
            if output.json {
                Output.shared.printLine(shown.json)
            } else if let value = shown.value {
                Output.shared.printLine(value.printable)
            }
            if shown.value == nil { throw ExitCode(ExitStatus.nothing.rawValue) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change a setting in the settings file or, if it is a setting of the library, in the library.",
            discussion: "  scan settings set backupFolder /media/usb/books\n  scan settings set dailyGoal 30")
        @Argument(help: "The name of the setting.", completion: .list(NamedSetting.allValueStrings)) var name:
            NamedSetting
        @Argument(
            help: "The value; - reads it from standard input, so that an API key does not get into the shell history.",
            completion: .values(.settingValue))
        var value: String
        @OptionGroup var paths: PathOptions

        func run() async throws {
            let given = (value == "-" ? (readLine() ?? "") : value).cleaned
            guard !given.isEmpty else {
                throw CommandError(
                    .usage, "the value is empty. To remove the setting, run 'scan settings unset \(name.name)'.")
            }
            guard given.utf8.count <= 4096 else { throw CommandError(.usage, "the value is longer than 4096 bytes.") }
            switch name {
            case .program(let setting): try set(setting, to: given)
            case .library(let setting): try await set(setting, to: given)
            }
        }

        private func set(_ setting: Setting, to given: String) throws {
            let isRelative = setting.isPath && !given.hasPrefix("/")
            let file = SettingsFile(path: Paths(environment: ProcessInfo.processInfo.environment).settingsFile)
            try file.change(setting, to: isRelative ? FileManager.default.currentDirectoryPath + "/" + given : given)
            Output.shared.printNotice("\(setting.rawValue) is set in \(file.path).")
        }

        private func set(_ setting: LibrarySetting, to given: String) async throws {
            guard let value = setting.value(parsing: given) else {
                throw CommandError(
                    .configuration,
                    "\"\(given.prefix(40).printable)\" is not a valid value for \(setting.rawValue); it must be \(setting.allowed)."
                )
            }
            let library = try Wiring(settings: paths.settings()).openLibrary()
            let change = try await library.set(setting.rawValue, to: value, at: Date())
            let state = change == nil ? "is already set to this value" : "is set"
            Output.shared.printNotice("\(setting.rawValue) \(state) in the library \(library.path ?? "").")
        }
    }

    struct Unset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Remove a setting from the settings file, or set a setting of the library back to its default.",
            discussion: "  scan settings unset yearlyGoal")
        @Argument(help: "The name of the setting.", completion: .list(NamedSetting.allValueStrings)) var name:
            NamedSetting
        @OptionGroup var paths: PathOptions

        func run() async throws {
            switch name {
            case .program(let setting):
                let file = SettingsFile(path: Paths(environment: ProcessInfo.processInfo.environment).settingsFile)
                var values = try file.read()
                values[setting] = nil
                try file.write(values)
                Output.shared.printNotice("\(setting.rawValue) is no longer set in \(file.path).")
            case .library(let setting):
                guard let library = try Wiring(settings: paths.settings()).openExistingLibrary() else {
                    throw CommandError(.nothing, "there is no library yet, so \(setting.rawValue) is not set.")
                }
                let change = try await library.set(setting.rawValue, to: nil, at: Date())
                Output.shared.printNotice(
                    "\(setting.rawValue) is \(change == nil ? "not" : "no longer") set in the library \(library.path ?? "")."
                )
            }
        }
    }
}

/// A setting as it is shown, with its value in effect.
private struct ShownSetting {
    let name: String
    /// The value, masked if it is a secret; `nil` if the setting has neither a value nor a default.
    let value: String?
    let origin: String
    /// The variable that overrides the setting; `nil` for a setting of the library.
    let environment: String?
    let explanation: String

    init(_ setting: Setting, _ settings: Settings) {
        (name, value) = (setting.rawValue, settings.shown(setting))
        (origin, environment) = (settings.level(of: setting).rawValue, setting.environmentName)
        explanation = setting.explanation
    }

    /// - Parameter stored: the settings in the library; `nil` if they cannot be read, so that not even the default is
    ///   certain.
    init(_ setting: LibrarySetting, _ settings: Settings, stored: [String: String]?) {
        let own = stored?[setting.rawValue]
        let standard = stored != nil && !setting.defaultValue.isEmpty ? setting.defaultValue : nil
        let override = setting == .sources ? settings.sourceOrder?.text : nil
        (name, value, environment) = (setting.rawValue, override ?? own ?? standard, nil)
        origin = override != nil ? "environment" : own == nil ? "default" : "library"
        explanation = setting.explanation
    }

    var json: JSONValue {
        [
            "name": .string(name), "value": JSONValue(value), "origin": .string(origin),
            "environment": JSONValue(environment), "explanation": .string(explanation),
        ]
    }
}

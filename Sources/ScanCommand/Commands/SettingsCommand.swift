import ArgumentParser
import Bookplate
import Foundation

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show every setting with its value and where it comes from; set, unset.",
        discussion: """
            A flag wins over the environment, the environment over the file, the file over the default.

              scan settings
              scan settings set contact me@example.org
              scan settings unset contact
            """,
        subcommands: [Show.self, Set.self, Unset.self], defaultSubcommand: Show.self)

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show every setting.")
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let settings = try places.settings()
            for setting in Setting.allCases {
                let value = settings.shown(setting)
                let origin = settings.level(of: setting)
                if output.json {
                    let line: JSONValue = [
                        "name": .string(setting.rawValue), "value": JSONValue(value),
                        "origin": .string(origin.rawValue),
                        "environment": .string(setting.environmentName), "explanation": .string(setting.explanation),
                    ]
                    Output.shared.line(line)
                } else {
                    let style = Output.shared.style
                    Output.shared.line(
                        "\(setting.rawValue.padded(15)) \((value?.printable ?? "–").padded(34)) \(origin.rawValue.padded(11)) "
                            + style.faint("\(setting.environmentName): \(setting.explanation)"))
                }
            }
            if !output.json { Output.shared.note("The file is \(settings.places.settingsFile).") }
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Write a setting to the settings file.")
        @Argument(help: "Its name.") var name: Setting
        @Argument(help: "Its value; - reads it from standard input, so that a key stays out of the shell's history.")
        var value: String

        func run() throws {
            let given = (value == "-" ? (readLine() ?? "") : value).cleaned
            guard !given.isEmpty else {
                throw Complaint(.usage, "the value is empty; scan settings unset \(name.rawValue) takes it away.")
            }
            let text =
                name.isPath && !given.hasPrefix("/") ? FileManager.default.currentDirectoryPath + "/" + given : given
            guard text.utf8.count <= 4096 else { throw Complaint(.usage, "the value is longer than 4096 bytes.") }
            let file = SettingsFile(path: Places(environment: ProcessInfo.processInfo.environment).settingsFile)
            var values = try file.read()
            values[name] = text
            try Wiring.check(values)
            try file.write(values)
            Output.shared.note("\(name.rawValue) is set in \(file.path).")
        }
    }

    struct Unset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset", abstract: "Take a setting out of the settings file.")
        @Argument(help: "Its name.") var name: Setting

        func run() throws {
            let file = SettingsFile(path: Places(environment: ProcessInfo.processInfo.environment).settingsFile)
            var values = try file.read()
            values[name] = nil
            try file.write(values)
            Output.shared.note("\(name.rawValue) is no longer set in \(file.path).")
        }
    }
}

extension Setting: ExpressibleByArgument {}

import Bookplate
import FoundationEssentials
import Hummingbird

/// The Settings page, with the settings of the library and of the program, backups, exports, and links to the names and
/// the changes.
struct SettingsPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/settings", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let maintenance = parts.ports.maintenance
        let stored = try await context.library.settings()
        var view: View = [
            "settings": LibrarySetting.allCases.filter { $0 != .sources }.map {
                texts.view(of: $0, stored: stored[$0.rawValue])
            },
            "browser": BrowserChoice.view(of: request, texts), "canBackUp": maintenance.backUp != nil,
            "canExport": maintenance.export != nil,
            "canImport": parts.ports.importFile != nil,
        ]
        view["otherDevices"] = try await parts.otherDevices(context)
        let attempts = try await context.library.signInAttempts(limit: SignInAttempt.kept)
        view["hasAttempts"] = !attempts.isEmpty
        view["attempts"] = attempts.map { attempt -> View in
            [
                "when": texts.instant(attempt.at, in: parts.ports.zone), "device": attempt.device.cleanedLine,
                "address": attempt.address.cleanedLine,
                "outcome": texts(attempt.isRight ? "settings.codeRight" : "settings.codeWrong"),
            ]
        }
        let program = try await maintenance.settings()
        view["hasProgram"] = !program.isEmpty
        let isChangeable = { (setting: ProgramSetting) in
            setting.control != nil && !setting.isFixed && maintenance.set != nil
        }
        view["program"] = program.filter { !isChangeable($0) }.map(texts.view)
        let controls = program.filter(isChangeable).map(texts.view)
        view["hasControls"] = !controls.isEmpty
        view["controls"] = controls
        let order = stored[LibrarySetting.sources.rawValue].map(SourceOrder.init(stored:)) ?? .standard
        view["sources"] = texts.views(of: maintenance.sourceOrder ?? order, isFixed: maintenance.sourceOrder != nil)
        if maintenance.sourceOrder != nil { view["areSourcesFixed"] = true }
        view["isOffline"] = program.contains { $0.name == "offline" && $0.value == "1" }
        do {
            view["backup"] =
                if let backup = try await maintenance.lastBackup() {
                    texts("settings.lastBackup", ["when": texts.instant(backup.at, in: parts.ports.zone)])
                } else { texts("settings.noBackup") }
        } catch {
            // The Settings page must open even when something is broken. An error is therefore shown in place of the
            // backup.
            context.logger.warning(
                "cannot list the backups: \(error)",
                metadata: ["id": "\(context.id)"])
            view["backup"] = texts("settings.backupsUnseen", ["id": context.id])
        }
        return try await parts.pages.render(
            Pages.Page(template: "settings", title: texts("layout.settings"), tab: .settings, view: view), context)
    }
}

extension LibrarySetting {
    var isSwitch: Bool { value(parsing: "on") != nil }
}

extension Texts {
    /// Returns the label of a setting, or its English explanation if the texts have no label for it.
    func label(of setting: LibrarySetting) -> String {
        let label = self("settings.\(setting.rawValue)")
        return label.hasPrefix("settings.") ? setting.explanation : label
    }

    /// Returns the explanation of one of the program's settings, and its language. It is the program's own, in English,
    /// if the texts have none.
    fileprivate func explanation(of setting: ProgramSetting) -> (text: String, language: Language) {
        let text = self("settings.program_\(setting.name)")
        if !text.hasPrefix("settings.") { return (text, language) }
        guard setting.name.hasSuffix("URL"), let source = SourceName(rawValue: String(setting.name.dropLast(3))) else {
            return (setting.explanation, .english)
        }
        return (self("settings.program_catalogueURL", ["name": self.source(source)]), language)
    }

    /// Returns the values of one of the program's settings.
    fileprivate func view(of setting: ProgramSetting) -> View {
        var view: View = [
            "name": setting.name, "value": setting.value?.cleanedLine ?? "–",
            "origin": self("settings.origin.\(setting.origin)"),
        ]
        let (explanation, language) = explanation(of: setting)
        (view["explanation"], view["explanationLanguage"]) = (explanation, language.rawValue)
        if setting.control != nil { view["label"] = self("settings.change_\(setting.name)") }
        switch setting.control {
        case .toggle:
            let isOn = setting.value == "1"
            view["switch"] =
                ["isOn": isOn, "checked": isOn ? "true" : "false", "other": isOn ? "false" : "true"] as View
        case .text: view["text"] = ["current": setting.value ?? ""] as View
        case .secret: view["secret"] = ["current": setting.value ?? self("settings.notSet")] as View
        case nil: break
        }
        return view
    }

    /// Returns a row for each source: those that are switched on, in their order, then the others. The acts of a row
    /// send the whole new order.
    ///
    /// - Parameter isFixed: true if the order cannot be changed here.
    fileprivate func views(of order: SourceOrder, isFixed: Bool) -> [View] {
        func body(_ order: SourceOrder) -> String {
            JSONValue.object([(key: "value", value: .string(order.text))]).text
        }
        let off = SourceOrder.standard.sources.filter { !order.sources.contains($0) }
        return (order.sources + off).map { source in
            let place = order.sources.firstIndex(of: source)
            let name = self.source(source)
            var view: View = [
                "name": source.rawValue, "label": name, "state": self(place == nil ? "settings.off" : "settings.on"),
                "explanation": self("settings.source.\(source.rawValue)"), "checked": place == nil ? "false" : "true",
            ]
            guard !isFixed else { return view }
            // The last source that is on stays on; to ask none, there is the setting "offline".
            if order.sources != [source] { view["toggle"] = body(order.toggling(source)) }
            if let place, place > 0 {
                view["earlier"] = body(order.moving(place, to: place - 1))
                view["earlierLabel"] = self("settings.sourceEarlier", ["name": name])
            }
            return view
        }
    }

    fileprivate func view(of setting: LibrarySetting, stored: String?) -> View {
        let value = stored ?? setting.defaultValue
        var view: View = ["name": setting.rawValue, "label": label(of: setting), "value": value]
        let hint = self("settings.\(setting.rawValue)Hint")
        if !hint.hasPrefix("settings.") { view["hint"] = hint }
        if setting.isSwitch {
            let isOn = value == "1"
            let flag: View = ["isOn": isOn, "checked": isOn ? "true" : "false", "other": isOn ? "false" : "true"]
            view["switch"] = flag
        }
        return view
    }
}

/// Lists the settings of the library and of the program, and changes the library's settings.
struct SettingsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/settings", for: .household, list),
            Route(.put, "/api/settings/:name", for: .household, set),
            Route(.put, "/api/program-settings/:name", for: .household, setProgram),
        ]
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let stored = try await context.library.settings()
        let program = try await parts.ports.maintenance.settings()
        return JSONResponse([
            "library": .array(
                LibrarySetting.allCases.map { setting in
                    [
                        "name": .string(setting.rawValue), "value": JSONValue(stored[setting.rawValue]),
                        "default": JSONValue(setting.defaultValue.isEmpty ? nil : setting.defaultValue),
                        "allowed": .string(setting.allowed), "explanation": .string(setting.explanation),
                    ]
                }), "program": .array(program.map(\.json)),
        ])
    }

    /// The new value of a setting, which may be a string, a number, or true or false. `null` restores the default.
    private struct NewValue: Decodable {
        let text: String?

        private enum Key: String, CodingKey { case value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            if try container.decodeNil(forKey: .value) {
                text = nil
            } else if let flag = try? container.decode(Bool.self, forKey: .value) {
                text = flag ? "1" : "0"
            } else if let number = try? container.decode(Int.self, forKey: .value) {
                text = String(number)
            } else {
                let given = try container.decode(String.self, forKey: .value)
                text = given.isEmpty ? nil : given
            }
        }
    }

    /// Stores one of the program's settings, which applies from the next start on.
    private func setProgram(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let name = try context.parameters.require("name")
        let maintenance = parts.ports.maintenance
        let setting = try await maintenance.settings().first { $0.name == name && $0.control != nil }
        guard let setting, let set = maintenance.set else { throw RequestRefusal.notFound("setting") }
        let value = try await request.json(NewValue.self).text?.cleanedLine
        guard !setting.isFixed else {
            let by = parts.pages.texts(context)("settings.origin.\(setting.origin)")
            throw RequestRefusal(.fixed, "The value is set with the \(setting.origin).", values: ["by": by])
        }
        guard value?.utf8.count ?? 0 <= 1000 else {
            throw FieldRefusal(field: "value", cause: TextRefusal.farTooLong(what: "value", limit: 1000))
        }
        try set(name, value)
        return JSONResponse(["name": .string(name), "stored": .bool(true)])
    }

    private func set(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let setting = LibrarySetting(rawValue: try context.parameters.require("name")) else {
            throw RequestRefusal.notFound("setting")
        }
        let given = try await request.json(NewValue.self).text
        let value = given.flatMap(setting.value(parsing:))
        if let given, value == nil {
            let shown = String(given.cleanedLine.prefix(40))
            throw RequestRefusal(
                .refused, "\"\(shown)\" is not a valid value for \(setting.rawValue). Enter \(setting.allowed).",
                values: ["value": shown, "setting": parts.pages.texts(context).label(of: setting)],
                key: setting == .sources ? "settingSources" : setting.isSwitch ? "settingSwitch" : "settingNumber")
        }
        let change = try await context.library.set(setting.rawValue, to: value, at: parts.ports.now())
        return JSONResponse([
            "name": .string(setting.rawValue), "value": JSONValue(value), "change": JSONValue(change?.rawValue),
        ])
    }
}

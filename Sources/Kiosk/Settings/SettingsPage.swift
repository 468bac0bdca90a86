import Bookplate
import FoundationEssentials
import Hummingbird

/// Settings, and what else a household looks after: backups, exports, names, what was changed.
struct SettingsPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/settings", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let upkeep = parts.ports.upkeep
        let stored = try await parts.library.settings()
        var view: View = [
            "settings": LibrarySetting.allCases.map { texts.view(of: $0, stored: stored[$0.rawValue]) },
            "canBackUp": upkeep.backUp != nil, "canExport": upkeep.export != nil,
        ]
        let program = try await upkeep.settings()
        view["hasProgram"] = !program.isEmpty
        view["program"] = program.map { setting -> View in
            [
                "name": setting.name, "value": setting.value?.cleanedLine ?? "–",
                "origin": texts("settings.origin.\(setting.origin)"), "explanation": setting.explanation,
            ]
        }
        view["isOffline"] = program.contains { $0.name == "offline" && $0.value == "1" }
        do {
            view["backup"] =
                if let backup = try await upkeep.lastBackup() {
                    texts("settings.lastBackup", ["when": texts.instant(backup.at, in: parts.ports.zone)])
                } else { texts("settings.noBackup") }
        } catch {
            // The page is there to mend things by: one that cannot be looked at is told in its place.
            context.logger.warning(
                "the backups cannot be looked at: \(parts.ports.trouble(error).message)",
                metadata: ["id": "\(context.id)"])
            view["backup"] = texts("settings.backupsUnseen", ["id": context.id])
        }
        return try await parts.pages.answer(
            Pages.Page(template: "settings", title: texts("layout.settings"), tab: .settings, view: view), context)
    }
}

extension LibrarySetting {
    var isSwitch: Bool { value(parsing: "on") != nil }
}

extension Texts {
    /// One that a later release brings has its English line until it has a text.
    func label(of setting: LibrarySetting) -> String {
        let label = self("settings.\(setting.rawValue)")
        return label.hasPrefix("settings.") ? setting.explanation : label
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

/// Settings of the library, those of the program to look at, backups and exports.
struct SettingsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/settings", for: .household, list),
            Route(.put, "/api/settings/:name", for: .household, set),
            Route(.get, "/api/sources", for: .household, sources),
            Route(.post, "/api/backups", for: .household, backUp),
            Route(.get, "/export/library.json", for: .household) { try await export(.json, $0, $1) },
            Route(.get, "/export/library.csv", for: .household) { try await export(.csv, $0, $1) },
        ]
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let stored = try await parts.library.settings()
        let program = try await parts.ports.upkeep.settings()
        return JSONAnswer([
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

    /// A value as forms give it: text, number or switch; `null` is the default.
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

    private func set(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        guard let setting = LibrarySetting(rawValue: try context.parameters.require("name")) else {
            throw RequestRefusal.notThere("setting")
        }
        let given = try await request.json(NewValue.self).text
        let value = given.flatMap(setting.value(parsing:))
        if let given, value == nil {
            let shown = String(given.cleanedLine.prefix(40))
            throw RequestRefusal(
                status: .unprocessableContent, code: "refused",
                message: "\"\(shown)\" is no value for \(setting.rawValue); it is \(setting.allowed).",
                values: ["value": shown, "setting": parts.pages.texts(context).label(of: setting)],
                key: setting.isSwitch ? "settingSwitch" : "settingNumber")
        }
        let change = try await parts.library.set(setting.rawValue, to: value, at: parts.ports.now())
        return JSONAnswer([
            "name": .string(setting.rawValue), "value": JSONValue(value), "change": JSONValue(change?.rawValue),
        ])
    }

    private func sources(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        JSONAnswer(["sources": .array(try await parts.ports.upkeep.sources().map(\.json))])
    }

    private func backUp(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        guard let backUp = parts.ports.upkeep.backUp else { throw RequestRefusal.notThere("folder for backups") }
        return JSONAnswer(try await backUp().json)
    }

    private func export(_ kind: ExportKind, _ request: Request, _ context: KioskContext) async throws -> Response {
        guard let export = parts.ports.upkeep.export else { throw RequestRefusal.notThere("export") }
        let file = try await export(kind)
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

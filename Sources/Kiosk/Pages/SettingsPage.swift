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

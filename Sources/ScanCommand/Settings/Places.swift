import Foundation

/// Where things are when nobody says otherwise (XDG Base Directory Specification 0.8).
struct Places {
    let environment: [String: String]

    /// `$XDG_CONFIG_HOME/bookplate/settings.json`
    var settingsFile: String { base("XDG_CONFIG_HOME", ".config") + "/bookplate/settings.json" }

    /// The service's library when it exists and this person may use it, else one in the person's own data folder.
    var defaultLibrary: String {
        let service = "/var/lib/bookplate/library.sqlite"
        return access(service, R_OK | W_OK) == 0
            ? service : base("XDG_DATA_HOME", ".local/share") + "/bookplate/library.sqlite"
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

import Foundation

/// Where things are when nobody says otherwise (XDG Base Directory Specification 0.8).
struct Places {
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

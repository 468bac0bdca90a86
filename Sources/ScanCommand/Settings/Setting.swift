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
    func defaultValue(_ places: Places) -> String {
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

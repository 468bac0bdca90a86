import ArgumentParser
import Bookplate
import Station

/// What every command that touches the library or the sources takes.
struct PlaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The library file.", valueName: "file"), completion: .file())
    var library: String?

    @Option(help: ArgumentHelp("The offline index.", valueName: "file"), completion: .file())
    var index: String?

    @Flag(help: "Ask no online source.")
    var offline = false

    func settings() throws -> Settings {
        var flags: [Setting: String] = [:]
        flags[.library] = library
        flags[.index] = index
        if offline { flags[.offline] = "1" }
        return try Settings(flags: flags)
    }
}

/// The one book that a command is about: several words need no quotes, since nothing else follows them.
struct NamedBook: ParsableArguments {
    @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var words: [String]

    var name: String { words.joined(separator: " ") }
}

/// Books, one an argument.
struct NamedBooks: ParsableArguments {
    @Argument(help: ArgumentHelp("ISBN, id or words each; quote a name of several words.", valueName: "book"))
    var names: [String]
}

/// `--json`
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false
}

/// What a batch gives every book it saves.
struct PresetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Put the books on this shelf.", valueName: "name"))
    var shelf: String?

    @Option(
        name: .customLong("tag"), help: ArgumentHelp("Give the books this tag (can be repeated).", valueName: "name"))
    var tags: [String] = []

    @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf.", valueName: "status"))
    var status: Copy.Status = .toRead

    @Flag(help: "The books are wishes, not owned.")
    var wishlist = false

    /// - Throws: ``Complaint`` when a name is empty or too long.
    func preset() throws -> Preset {
        do {
            return try Preset(shelf: shelf, tags: tags, status: status, isWishlist: wishlist).checked()
        } catch {
            throw Complaint(.usage, error.description + ".")
        }
    }
}

extension Copy.Status: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

/// Who says yes, and to what.
struct ConfirmOptions: ParsableArguments {
    @Flag(help: "Save what is found without asking; never a second copy.")
    var yes = false

    @Flag(help: "Save another copy of what is owned already (with --yes).")
    var anotherCopy = false

    func validate() throws {
        if anotherCopy, !yes { throw ValidationError("--another-copy goes with --yes; at the prompt it is the key c.") }
    }

    /// The person in advance, the person at the keyboard, or nobody.
    func answer(json: Bool) -> CaptureRun.Answer {
        if yes { return .advance }
        if json { return .leave }
        return Keyboard.open().map { .prompt(.keyboard($0)) } ?? .leave
    }
}

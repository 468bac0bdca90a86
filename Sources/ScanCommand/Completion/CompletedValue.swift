import ArgumentParser

/// The values of arguments that are completed from the library, the settings, or the rest of the command line.
enum CompletedValue: String {
    case tag, shelf, author, reader, deletedReader
    /// A book that is named by one word of the command line.
    case book
    /// A book that is named by all words of its argument together.
    case bookWords
    case trashedBook
    /// A search, which can name fields (``QueryField``).
    case query
    /// An item of the intake queue.
    case waitingItem
    /// A change that can be undone or, for `scan redo`, redone.
    case change
    case note, quote, session, backup, hub, station
    /// A value of the setting that is the argument before.
    case settingValue
    case language, day
    /// A saved filter.
    case filter
}

extension CompletionKind {
    /// Completes values with ``CompletedValues``.
    ///
    /// The argument parser reports the text of a shell command, but not a closure. So the name of the values is passed
    /// as one; only ``CommandPosition`` reads it, and no shell runs it.
    static func values(_ values: CompletedValue) -> CompletionKind { .shellCommand(values.rawValue) }

    /// Completes photos and folders.
    static let photos = CompletionKind.file(extensions: ["jpg", "jpeg", "png", "webp", "heic", "heif"])

    /// Completes the dumps of Open Library.
    static let dumps = CompletionKind.file(extensions: ["txt", "gz"])
}

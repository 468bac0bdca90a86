import Bookplate

/// Imports files that browsers send. The program provides it.
public protocol FileImport: Sendable {
    /// Makes an empty file on the library's disk, which only the service can read and which is removed when nothing
    /// uses it anymore.
    func makeFile() throws -> any ReceivedFile

    /// Imports the rows of a file, or finds out what an import would do.
    ///
    /// - Parameters:
    ///   - library: the library of the reader for whom the file is imported.
    ///   - deliver: receives the format, and then the results of some hundred rows at a time, which are on the disk.
    /// - Throws: ``ExchangeError`` if the file cannot be read, an error of the library, or `CancellationError` if the
    ///   task was cancelled. The rows that were delivered stay imported.
    func importRows(
        of file: any ReceivedFile, _ order: ImportOrder, into library: any KioskLibrary,
        deliver: @Sendable (ImportNews) async -> Void
    ) async throws
}

/// A file that arrives from a browser.
public protocol ReceivedFile: Sendable {
    /// Writes the next bytes at the end of the file.
    func append(_ bytes: [UInt8]) throws
}

/// The name of a file, and the choices for its import.
public struct ImportOrder: Sendable, Equatable {
    /// The name of the file in the browser, for messages.
    public var name: String
    /// The format of a table whose columns are not recognised; `nil` to recognise it.
    public var format: ExchangeFormat?
    public var preset = ImportPreset()
    /// True to only find out what the import would do.
    public var isDryRun = true

    public init(name: String) { self.name = name }
}

/// The progress of an import.
public enum ImportNews: Sendable {
    case recognised(ExchangeFormat)
    /// - Parameter change: the change that the import is so far; `nil` if it has changed nothing.
    case imported([ImportResult], bytesRead: Int, change: ID<Change>?)
}

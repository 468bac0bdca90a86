import FoundationEssentials

/// The readers of a household. Each act is one change, which undo reverts.
public protocol Readers: Sendable {
    /// Returns the readers outside the trash, in the order in which they were added.
    func readers() async throws -> [Reader]
    /// Returns the readers in the trash, the one deleted last first.
    func deletedReaders() async throws -> [Reader]
    /// Adds a reader. The first reader, who has no name before, gets the name `first`.
    ///
    /// - Parameter first: the name of the first reader; required while the reader has none.
    /// - Throws: ``ReaderRefusal``, or ``TextRefusal`` for a name that is empty or too long.
    func addReader(_ name: String, naming first: String?, at now: Date) async throws -> ReaderChange
    func renameReader(_ id: ID<Reader>, to name: String, at now: Date) async throws -> ReaderChange
    /// - Parameter colour: from 0 to 7.
    func colourReader(_ id: ID<Reader>, _ colour: Int, at now: Date) async throws -> ReaderChange
    /// Moves a reader, with all that is the reader's own, to the trash for 30 days. Books stay.
    ///
    /// - Throws: ``ReaderRefusal/lastReader`` for the only reader.
    func deleteReader(_ id: ID<Reader>, at now: Date) async throws -> ReaderChange
    func restoreReader(_ id: ID<Reader>, at now: Date) async throws -> ReaderChange
    /// Returns the library for one reader. It sees the reader's private notes and quotes, unless the reader has a PIN
    /// and is not unlocked for the holder. It is for one request.
    ///
    /// - Parameters:
    ///   - reader: the reader; `nil` for the first one.
    ///   - holder: the sign-in or terminal from which the library is used, of at most 200 characters.
    ///   - isGuest: true for somebody who sees no private notes and quotes.
    ///   - now: the time at which the reader must be unlocked.
    /// - Throws: ``ReaderRefusal/noSuchReader``.
    func reading(as reader: ID<Reader>?, holder: String?, isGuest: Bool, at now: Date) async throws -> Self
    /// Returns the readers outside the trash, one of them, and the library for this one, all with one read; see
    /// ``reading(as:holder:isGuest:at:)``.
    ///
    /// - Parameter choose: returns one of the readers; `nil` for the first one.
    /// - Throws: the errors of `choose`; ``ReaderRefusal/noSuchReader`` if it returns another reader.
    func readers(
        holder: String?, isGuest: Bool, at now: Date, choosing choose: ([Reader]) throws -> Reader?
    ) async throws -> (all: [Reader], chosen: Reader?, library: Self)
    /// Returns the library for all readers together. Only the methods of ``Stats`` show what is the readers' own, and
    /// every change throws ``ReaderRefusal/everybody``.
    func ofEverybody() -> Self
    /// Sets the reader's PIN, or removes it (`nil`). This is not a change that undo reverts. Locks the reader
    /// everywhere but for the holder.
    ///
    /// - Throws: ``ReaderRefusal/locked`` if the reader has a PIN and is not unlocked for the holder, or
    ///   ``ReaderRefusal/badPIN``.
    func setPIN(_ pin: String?, of reader: ID<Reader>, holder: String?, at now: Date) async throws
    /// Unlocks a reader for the holder, for ``Reader/unlockedFor``. Wrong PINs are counted as wrong access codes are.
    ///
    /// - Parameter address: the address from which the PIN comes; wrong PINs are counted for each address and in total.
    func unlock(
        _ reader: ID<Reader>, pin: String, holder: String, from address: String, at now: Date
    ) async throws -> CodeCheck
    /// Locks a reader again for the holder.
    func lock(_ reader: ID<Reader>, holder: String) async throws
    /// Returns true if the reader has no PIN or is unlocked for the holder.
    func isUnlocked(_ reader: ID<Reader>, holder: String?, at now: Date) async throws -> Bool
}

extension Reader {
    /// The time for which a PIN unlocks a reader, in seconds.
    public static let unlockedFor: TimeInterval = 900
    /// The minimum number of characters in a PIN. With the pauses after wrong ones, guessing four digits takes months.
    public static let shortestPIN = 4
}

/// Another reader's status and opinion of a copy.
public struct OtherReader: Sendable, Equatable {
    public var reader: Reader
    public var status: Copy.Status
    /// The day on which the last reading that was not cancelled ended or, if it has not ended, began; `nil` if unknown.
    public var day: CalendarDay?
    public var rating: Double?
    public var isOnWishlist: Bool

    public init(_ reader: Reader, status: Copy.Status, day: CalendarDay?, rating: Double?, isOnWishlist: Bool) {
        (self.reader, self.status, self.day) = (reader, status, day)
        (self.rating, self.isOnWishlist) = (rating, isOnWishlist)
    }
}

/// A reader after an act, and the change, which undo reverts; the change is `nil` if nothing changed.
public struct ReaderChange: Sendable, Equatable {
    public var reader: Reader
    public var change: ID<Change>?

    public init(_ reader: Reader, change: ID<Change>?) {
        self.reader = reader
        self.change = change
    }
}

/// The reason why readers cannot be changed.
public enum ReaderRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchReader
    /// No reader has this name. Carries the names of those that there are.
    case unknown(name: String, known: [String])
    /// Another reader has this name.
    case nameTaken(String)
    /// The first reader needs a name before there is another one.
    case firstNeedsName
    case lastReader
    /// The reader has a PIN, and is not unlocked.
    case locked
    /// The text is not allowed as a PIN.
    case badPIN
    case tooMany(limit: Int)
    /// The library is that of all readers together, but a change belongs to one reader.
    case everybody

    public var description: String {
        switch self {
        case .noSuchReader: "there is no such reader. The reader may have been deleted"
        case .unknown(let name, let known):
            "there is no reader \"\(name.cleanedLine.prefix(80))\"."
                + (known.isEmpty ? "" : " The readers are \(known.map(\.cleanedLine).joined(separator: ", "))")
        case .nameTaken(let name): "another reader is called \"\(name.cleanedLine.prefix(80))\". Choose another name"
        case .firstNeedsName: "the first reader has no name yet. Enter that name as well"
        case .lastReader: "the last reader cannot be deleted"
        case .locked: "this reader has a PIN. Enter the PIN first"
        case .badPIN:
            "a PIN must have at least \(Reader.shortestPIN) characters, and at most \(AccessCodeRefusal.longest) bytes"
        case .tooMany(let limit): "there are already \(limit) readers, which is the limit"
        case .everybody: "choose a reader to change something"
        }
    }
}

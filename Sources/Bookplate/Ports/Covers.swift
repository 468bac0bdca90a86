import FoundationEssentials

/// The hosts from which covers may be fetched. Redirects must stay within these hosts.
public enum CoverHosts {
    public static let allowed = [
        "openlibrary.org", "archive.org", "books.google.com", "googleusercontent.com", "cover.openbd.jp",
        "portal.dnb.de",
    ]

    /// Returns true if `host` is one of the allowed hosts or a subdomain of one.
    public static func allows(_ host: String) -> Bool {
        let host = host.lowercased()
        return allowed.contains { host == $0 || host.hasSuffix("." + $0) }
    }
}

/// Stores cover pictures beside the library.
public protocol Covers: Sendable {
    /// - Returns: the bytes of the picture; `nil` if there is none.
    func cover(of edition: ID<Edition>) async throws -> [UInt8]?
    /// Returns the properties of the picture without reading it; `nil` if there is none.
    func keptCover(of edition: ID<Edition>) async throws -> KeptCover?
    /// Returns the editions among `editions` that have a stored picture.
    func keptCovers(among editions: [ID<Edition>]) async throws -> Set<ID<Edition>>
    /// Stores a fetched picture, unless the edition has a person's own photo or a better fetched picture
    /// (``CoverPicture``). If a person has chosen the cover address, the picture is stored in any case.
    ///
    /// - Returns: false if there is no such edition. An undo may have removed it during the fetch.
    @discardableResult
    func keepCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws -> Bool
    /// Stores a person's own photo in place of any other picture. No fetched picture ever replaces it. The photo is on
    /// disk when the method returns.
    func keepOwnCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws
    /// Removes a person's own photo for good. The edition then needs a fetched picture again, if it has a cover
    /// address.
    ///
    /// - Returns: true if there was such a photo.
    func removeOwnCover(of edition: ID<Edition>) async throws -> Bool
    /// Returns saved editions for which a cover may be fetched, but that have no stored picture of their present cover
    /// address. If the picture is known to be missing, its edition is returned only once it is time to try again.
    func editionsWithoutCover(limit: Int) async throws -> [MissingCover]
    /// Records that no picture could be fetched for an edition. A picture of an earlier address stays.
    ///
    /// - Parameter retryAt: the time at which to try again; `nil` if there is no picture at the address.
    func recordMissingCover(of edition: ID<Edition>, retryAt: Date?) async throws
}

/// An edition whose cover is to be fetched.
public struct MissingCover: Sendable, Equatable {
    public var edition: ID<Edition>
    public var isbn: ISBN?
    /// The cover address of the edition; `nil` if it has none.
    public var url: String?
    /// True if a person has chosen the address, so that no other one is tried.
    public var isChosen: Bool

    public init(edition: ID<Edition>, isbn: ISBN?, url: String?, isChosen: Bool) {
        (self.edition, self.isbn, self.url, self.isChosen) = (edition, isbn, url, isChosen)
    }

    /// The beginning of the ISBNs for which the Deutsche Nationalbibliothek has covers.
    public static let germanGroup = "9783"
}

/// The properties of a stored cover picture.
public struct KeptCover: Sendable, Equatable {
    /// True for a person's own photo, false for a fetched picture.
    public var isOwn: Bool
    /// The size of the picture in bytes.
    public var bytes: Int
    /// The time at which the picture was stored; it differs for each new picture.
    public var stored: Date

    public init(isOwn: Bool, bytes: Int, stored: Date) {
        self.isOwn = isOwn
        self.bytes = bytes
        self.stored = stored
    }
}

/// Fetches cover pictures.
public protocol CoverFetch: Sendable {
    /// Returns the addresses at which there may be a cover, in the order in which to ask. If a person has chosen the
    /// address, it is the only one.
    func addresses(of cover: MissingCover) -> [String]

    /// - Returns: the bytes of the picture (JPEG, PNG, GIF or WebP, at most 5 MiB); `nil` if there is no picture at the
    ///   address.
    /// - Throws: ``SourceError`` if the fetch failed or the address is not allowed.
    func cover(at url: String) async throws -> [UInt8]?
}

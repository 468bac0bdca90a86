import FoundationEssentials

/// Links that show a reader's wishlist to anybody who has one.
///
/// A link's token is stored as a hash. Links are not logged in changes, so that an undo never brings back a revoked
/// one.
public protocol WishlistLinks: Sendable {
    /// Returns the reader's links, newest first.
    func wishlistLinks() async throws -> [WishlistLink]
    /// Makes a link to the reader's wishlist.
    ///
    /// - Returns: the link and its token: 128 random bits as 32 hexadecimal digits. It cannot be read again later,
    ///   because only its hash is stored.
    /// - Throws: ``WishlistLinkRefusal/tooMany``.
    func makeWishlistLink(at now: Date) async throws -> (link: WishlistLink, token: String)
    /// Revokes one of the reader's links.
    ///
    /// - Returns: false if the reader has no such link.
    func revokeWishlistLink(_ id: ID<WishlistLink>) async throws -> Bool
    /// Returns the reader whose wishlist a token shows.
    ///
    /// - Returns: `nil` if the token is unknown, or if its reader is in the trash.
    func reader(ofWishlistToken token: String, at now: Date) async throws -> ID<Reader>?
    /// Returns true if a copy of the edition is on the reader's wishlist.
    func isOnWishlist(_ edition: ID<Edition>) async throws -> Bool
}

/// A link to a reader's wishlist.
public struct WishlistLink: Sendable, Equatable {
    public var id: ID<WishlistLink>
    public var created: Date
    /// The time of the last use, to the hour; `nil` if it has not been used.
    public var used: Date?

    public init(id: ID<WishlistLink>, created: Date, used: Date? = nil) {
        (self.id, self.created, self.used) = (id, created, used)
    }

    /// The maximum number of links of one reader.
    public static let limit = 10
    /// The number of characters of a token.
    public static let tokenLength = 32
}

/// The reason why a link to a wishlist is not made.
public enum WishlistLinkRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reader has ``WishlistLink/limit`` links.
    case tooMany

    public var description: String {
        "there are already \(WishlistLink.limit) links to this wishlist. Revoke one of them first"
    }
}

import FoundationEssentials

/// Access to the library over the network, through the access code and the sign-ins that are made with it.
///
/// The code and the tokens are stored as hashes. Wrong codes are counted in the library, per address and in total, so
/// that a restart does not reset the counts.
public protocol Access: Sendable {
    func hasAccessCode() async throws -> Bool
    /// Sets the access code, or removes it (`nil`). Ends all sign-ins and resets the counts of wrong codes.
    ///
    /// - Throws: ``AccessCodeRefusal`` if the code is not allowed.
    func setAccessCode(_ code: String?, at now: Date) async throws
    /// Sets the access code if there is none.
    ///
    /// - Returns: false if there is a code, which stays as it is.
    /// - Throws: ``AccessCodeRefusal`` if the code is not allowed.
    func setFirstAccessCode(_ code: String, at now: Date) async throws -> Bool
    /// Checks the present access code like ``check(code:from:device:at:)``, and replaces it if it is right. Ends all
    /// sign-ins.
    ///
    /// - Throws: ``AccessCodeRefusal`` if the new code is not allowed.
    func changeAccessCode(
        from old: String, to new: String, from address: String, device: String, at now: Date
    ) async throws -> CodeCheck
    /// Checks an access code. Wrong codes are counted, even if several callers give them at the same time.
    ///
    /// - Parameters:
    ///   - address: the caller's address, without the port. Wrong codes are counted separately for each address.
    ///   - device: the name to show in the list of attempts; it is shortened to one line.
    func check(code: String, from address: String, device: String, at now: Date) async throws -> CodeCheck
    /// Checks an access code like ``check(code:from:device:at:)``, and creates a sign-in if the code is right.
    ///
    /// - Parameter device: the name to show in the lists of sign-ins and attempts; it is shortened to one line.
    func signIn(code: String, from address: String, device: String, at now: Date) async throws -> SignInOutcome
    /// Creates a sign-in for a device that was let in without the access code.
    ///
    /// - Returns: the sign-in and its token; `nil` if no access code is set, because then there are no sign-ins.
    func signIn(invited device: String, at now: Date) async throws -> (signIn: SignIn, token: String)?
    /// Finds the sign-in to which a token belongs.
    ///
    /// - Returns: `nil` if the token is unknown, or if its sign-in was ended or has not been used for
    ///   ``SignIn/unusedFor``.
    func signIn(ofToken token: String, at now: Date) async throws -> SignIn?
    /// Returns the sign-ins, most recently used first.
    func signIns(at now: Date) async throws -> [SignIn]
    /// Returns the latest attempts to use the access code, newest first. ``SignInAttempt/kept`` attempts are kept. An
    /// attempt during a pause, in which no code is checked, is not among them.
    func signInAttempts(limit: Int) async throws -> [SignInAttempt]
    /// Ends a sign-in.
    ///
    /// - Returns: false if there is no such sign-in.
    func endSignIn(_ id: ID<SignIn>) async throws -> Bool
}

/// A browser in which a person entered the access code.
public struct SignIn: Sendable, Equatable {
    public var id: ID<SignIn>
    public var device: String
    public var created: Date
    /// The time of the last use, to the hour.
    public var used: Date

    public init(id: ID<SignIn>, device: String, created: Date, used: Date) {
        self.id = id
        self.device = device
        self.created = created
        self.used = used
    }

    /// The time after which an unused sign-in expires.
    public static let unusedFor: TimeInterval = 90 * 86_400
}

/// An attempt to sign in, or to pair a station, with an access code that was checked.
public struct SignInAttempt: Sendable, Equatable {
    public var at: Date
    /// The address from which the code came, without the port. It is empty if it is unknown.
    public var address: String
    /// The browser and its system, or the name of the station.
    public var device: String
    public var isRight: Bool

    public init(at: Date, address: String, device: String, isRight: Bool) {
        (self.at, self.address, self.device, self.isRight) = (at, address, device, isRight)
    }

    /// The number of attempts that are kept.
    public static let kept = 200
}

/// The result of checking an access code.
public enum CodeCheck: Sendable, Equatable {
    case right
    case wrong
    /// The code was not checked, because too many wrong codes were given before.
    case throttled(seconds: Int)
    /// No access code is set.
    case noCode
}

/// The result of a sign-in.
public enum SignInOutcome: Sendable, Equatable {
    /// - Parameter token: the token of the sign-in: 256 random bits as text. It cannot be read again later, because
    ///   only its hash is stored.
    case signedIn(SignIn, token: String)
    case refused(CodeCheck)
}

/// The reason why a text is not allowed as an access code.
public enum AccessCodeRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort
    case tooLong
    case control

    /// The minimum number of characters in an access code. With the pauses after wrong codes, guessing six digits takes
    /// years.
    public static let shortest = 6
    /// The maximum length of an access code, in bytes of UTF-8.
    public static let longest = 256

    public var description: String {
        switch self {
        case .tooShort: "an access code must have at least \(Self.shortest) characters"
        case .tooLong: "an access code can have at most \(Self.longest) bytes"
        case .control: "an access code cannot contain control characters"
        }
    }

    /// Throws if the text is not allowed as an access code.
    public static func check(_ code: String) throws(AccessCodeRefusal) {
        if code.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) { throw .control }
        if code.count < shortest { throw .tooShort }
        if code.utf8.count > longest { throw .tooLong }
    }
}

import FoundationEssentials

/// Who may use the library over the network: by the access code, and by the sign-ins that it gave.
///
/// What is kept of code and tokens are hashes. Wrong codes are counted in the library, per address and in all, so that no restart
/// forgets them.
public protocol Access: Sendable {
    func hasAccessCode() async throws -> Bool
    /// Sets the code, or takes it away. Ends all sign-ins and forgets the wrong codes.
    ///
    /// - Throws: ``AccessCodeRefusal`` when it is no code.
    func setAccessCode(_ code: String?, at now: Date) async throws
    /// Whether the code is right. Counts the wrong ones, also of callers that come at the same moment.
    ///
    /// - Parameter address: of whoever says it, without port; a count of its own.
    func check(code: String, from address: String, at now: Date) async throws -> CodeCheck
    /// The same, and where the code is right a new sign-in.
    ///
    /// - Parameter device: how the list of sign-ins names it; cut to a line.
    func signIn(code: String, from address: String, device: String, at now: Date) async throws -> SignInOutcome
    /// - Returns: whose token it is; `nil` when it is nobody's, was ended, or was unused for ``SignIn/unusedFor``.
    func signIn(ofToken token: String, at now: Date) async throws -> SignIn?
    /// The latest used first.
    func signIns(at now: Date) async throws -> [SignIn]
    /// - Returns: whether there was such a sign-in.
    func endSignIn(_ id: ID<SignIn>) async throws -> Bool
}

/// A browser that has said the access code.
public struct SignIn: Sendable, Equatable {
    public var id: ID<SignIn>
    public var device: String
    public var created: Date
    /// To the hour.
    public var used: Date

    public init(id: ID<SignIn>, device: String, created: Date, used: Date) {
        self.id = id
        self.device = device
        self.created = created
        self.used = used
    }

    /// A sign-in that nobody used for so long is over.
    public static let unusedFor: TimeInterval = 90 * 86_400
}

/// What became of a code that was said.
public enum CodeCheck: Sendable, Equatable {
    case right
    case wrong
    /// Not looked at: too many wrong ones came before.
    case throttled(seconds: Int)
    /// There is none to say.
    case noCode
}

/// What became of a sign-in.
public enum SignInOutcome: Sendable, Equatable {
    /// - Parameter token: 256 random bits as text, told this once.
    case signedIn(SignIn, token: String)
    case refused(CodeCheck)
}

/// Why a text is no access code.
public enum AccessCodeRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case tooShort
    case tooLong
    case control

    /// Characters that a code has at least: with the pauses after wrong ones, six digits take years to guess.
    public static let shortest = 6
    /// Bytes in UTF-8 that it has at most.
    public static let longest = 256

    public var description: String {
        switch self {
        case .tooShort: "an access code has \(Self.shortest) characters at least"
        case .tooLong: "an access code has \(Self.longest) bytes at most"
        case .control: "an access code has no control characters"
        }
    }

    /// - Throws: why it is none.
    public static func check(_ code: String) throws(AccessCodeRefusal) {
        if code.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) { throw .control }
        if code.count < shortest { throw .tooShort }
        if code.utf8.count > longest { throw .tooLong }
    }
}

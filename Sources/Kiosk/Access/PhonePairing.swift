import Bookplate
import Cryptography
import FoundationEssentials
import Hummingbird
import Synchronization

/// The invitations to phones: each lets one phone in, once, within five minutes.
///
/// A QR code on the station's screen carries the token in the fragment of an address, which browsers do not send to any
/// server. Only its hash is kept, in memory, because an invitation need not survive a restart.
final class PhoneInvitations: Sendable {
    static let validity: TimeInterval = 300
    /// The maximum number of invitations. If there are more, the oldest ends.
    private static let limit = 16

    private let open = Mutex<[(hash: [UInt8], end: Date)]>([])

    /// Makes an invitation.
    ///
    /// - Returns: its token: a random number of 128 bits in hexadecimal.
    func make(at now: Date) -> String {
        // The first digit is not 0, so all tokens have the same length.
        let token = String(UInt128.random(in: 1 << 124 ... .max), radix: 16)
        restore(token, at: now)
        return token
    }

    /// Makes a token valid for five minutes from now: a new one, or one that could not be used.
    func restore(_ token: String, at now: Date) {
        open.withLock { open in
            open.removeAll { $0.end <= now }
            if open.count >= Self.limit { open.removeFirst() }
            open.append((Self.hash(token), now + Self.validity))
        }
    }

    /// Redeems an invitation, which then ends.
    ///
    /// - Returns: false if there is no such invitation, or no longer.
    func redeem(_ token: String, at now: Date) -> Bool {
        let hash = Self.hash(token)
        return open.withLock { open in
            open.removeAll { $0.end <= now }
            // Hashes are compared, so the time that this takes says nothing about the tokens.
            guard let index = open.firstIndex(where: { $0.hash == hash }) else { return false }
            open.remove(at: index)
            return true
        }
    }

    /// Ends all invitations.
    func endAll() { open.withLock { $0 = [] } }

    private static func hash(_ token: String) -> [UInt8] { SHA256.hash(token.utf8) }
}

/// The page that an invitation opens on a phone. It redeems the invitation and leads to the Scan page with the phone's
/// camera.
struct PhonePage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/phone", for: .everyone, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        var stranger = context
        // The page shows nothing from the library.
        stranger.caller = .stranger
        return try await parts.pages.render(Pages.Page(template: "phone", title: texts("phone.title")), stranger)
    }
}

/// Invites phones, and lets them in.
struct PhonePairingAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.post, "/api/phones/invitations", for: .household, invite),
            Route(.post, "/api/phones", for: .everyone, enter),
        ]
    }

    private func invite(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard try await context.library.hasAccessCode() else { throw RequestRefusal.noCode }
        let base = try await parts.address(for: request, context)
        guard let host = HostNames.parts(of: String(base.drop { $0 != "/" }.dropFirst(2))),
            !HostNames.isLoopback(host.name)
        else {
            throw RequestRefusal(
                .notOpen, "Other devices cannot reach this station yet. Choose who may, in Settings at the station.")
        }
        let now = parts.ports.now()
        let address = "\(base)/phone#\(parts.invitations.make(at: now))"
        return JSONResponse(
            [
                "address": .string(address), "code": QRCode(address)?.json ?? .null,
                "isEncrypted": .bool(base.hasPrefix("https://")),
                "warns": .bool(base.hasPrefix("https://") && parts.configuration.tls?.authority != nil),
                "ends": .string((now + PhoneInvitations.validity).rfc3339),
            ], status: .created)
    }

    private struct Invitation: Decodable { var token: String }

    private func enter(_ request: Request, _ context: KioskContext) async throws -> Response {
        let body = try await request.json(Invitation.self)
        let now = parts.ports.now()
        guard parts.invitations.redeem(body.token, at: now) else {
            throw RequestRefusal(
                .invitationOver, "This code was used already, or is older than five minutes. Show a new one.")
        }
        let device = DeviceName.describe(request.headers[.userAgent] ?? "")
        let made: (signIn: SignIn, token: String)?
        do {
            made = try await context.library.signIn(invited: device, at: now)
        } catch {
            // The phone tries again.
            parts.invitations.restore(body.token, at: now)
            throw error
        }
        guard let made else { throw RequestRefusal.noCode }
        var response = JSONResponse(["signIn": made.signIn.json(context)], status: .created)
            .response(from: request, context: context)
        response.headers[.setCookie] = request.cookie(
            Authenticator.cookie, made.token, seconds: Request.longestCookie)
        return response
    }
}

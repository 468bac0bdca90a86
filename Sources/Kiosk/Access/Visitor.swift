import Bookplate

/// Who asks.
enum Caller: Sendable, Equatable {
    /// Somebody at this machine, or with a sign-in: may do everything.
    case household
    /// Nobody known, while the library's guest view is on: may look.
    case guest
    /// A paired station, by its token.
    case station(PairedStation)
    /// Nobody known: may sign in.
    case stranger

    func mayAsk(for audience: Route.Audience) -> Bool {
        switch audience {
        case .everyone: true
        case .guests: self == .household || self == .guest
        case .household: self == .household
        case .stations: if case .station = self { true } else { false }
        }
    }
}

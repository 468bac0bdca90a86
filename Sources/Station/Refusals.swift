import Bookplate

extension Station.Refusal: Bookplate.Refusal {
    public var kind: RefusalKind { self == .gone ? .notFound : .refused }
    public var apiCode: String { self == .gone ? kind.apiCode : code }

    public var code: String {
        switch self {
        case .gone: "gone"
        case .answered: "answered"
        case .nothingToUndo: "nothingToUndo"
        case .notNewest: "notNewest"
        }
    }
}

extension Batch.TickRefusal: Bookplate.Refusal {
    public var kind: RefusalKind { .refused }
    public var apiCode: String { code }

    public var code: String {
        switch self {
        case .needsTitle: "needsTitle"
        case .answered: "answered"
        }
    }
}

import Bookplate
import FoundationEssentials
import Testing

@Suite struct `A book in the trash` {
    private static let now = Date(timeIntervalSince1970: 1_795_262_400)

    @Test(arguments: [
        (0.0, 30), (0.5, 30), (1, 29), (1.01, 29), (29, 1), (29.99, 1), (30, 0), (31, 0), (1e6, 0), (1e300, 0),
        // Deleted tomorrow: the clock went back.
        (-1, 30), (-1e300, 30),
    ])
    func `has the rest of the thirty days left`(days: Double, left: Int) {
        let deleted = Self.now.addingTimeInterval(-days * 86_400)
        #expect(Trash.daysLeft(deleted: deleted, now: Self.now) == left)
    }
}

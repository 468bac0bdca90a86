import Bookplate
import Testing

@testable import Terminal

@Suite struct `Progress bars` {
    @Test(
        arguments: [
            (.page(145), 382, "Page 145 of 382 ███░░░░░░░ 38%"), (.page(145), nil, "Page 145"),
            (.page(191), 382, "Page 191 of 382 █████░░░░░ 50%"),
            (.percent(37.5), nil, "███░░░░░░░ 38%"), (.percent(100), 382, "██████████ 100%"),
            (.page(381), 382, "Page 381 of 382 █████████░ 99%"), (.page(0), 382, "Page 0 of 382 ░░░░░░░░░░ 0%"),
            (.page(400), 382, "Page 400 of 382 ██████████ 100% (beyond the last page)"),
        ] as [(ProgressEntry.Amount, Int?, String)])
    func `show how far a book is read`(amount: ProgressEntry.Amount, pageCount: Int?, text: String) {
        #expect(ReadingBar(amount: amount, pageCount: pageCount).text() == text)
    }
}

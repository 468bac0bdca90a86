import Bookplate
import Testing

@testable import Decoder

private func raw(_ text: String, lines: Int, whole: Int = 10, x: Double = 100) -> RawSymbol {
    RawSymbol(
        digits: Digits(number: Int(text) ?? 0, count: 13), lines: lines, pointsPerEnd: whole,
        corners: Corners(
            topLeft: Point(x: x, y: 100), topRight: Point(x: x + 190, y: 100), bottomRight: Point(x: x + 190, y: 200),
            bottomLeft: Point(x: x, y: 200)))
}

private func believed(_ passes: [[RawSymbol]]) -> [String] {
    var evidence = Evidence()
    for pass in passes { evidence.add(pass) }
    return evidence.symbols.map(\.digits.text)
}

@Test func `believes many lines of one pass, or few of two`() {
    #expect(believed([[raw("9780306406157", lines: 6)]]) == ["9780306406157"])
    #expect(believed([[raw("9780306406157", lines: 5)]]).isEmpty)
    #expect(believed([[raw("9780306406157", lines: 2)], [raw("9780306406157", lines: 1)]]) == ["9780306406157"])
    #expect(believed([[raw("9780306406157", lines: 1)], [raw("9780306406157", lines: 1)]]).isEmpty)
}

@Test func `believes neither of two payloads at one place, unless one has three times the lines`() {
    #expect(believed([[raw("9780306406157", lines: 20), raw("9780306406751", lines: 10)]]).isEmpty)
    #expect(believed([[raw("9780306406157", lines: 30), raw("9780306406751", lines: 10)]]) == ["9780306406157"])
    #expect(believed([[raw("9780306406157", lines: 9), raw("9780306406751", lines: 9, x: 600)]]).count == 2)
}

@Test(arguments: ["9187569709672", "9121569709672", "9721569709672", "9191569709672"])
func `takes 918 and the like for a misread 978`(_ text: String) {
    #expect(believed([[raw(text, lines: 30)]]).isEmpty)
}

@Test func `lets a sure reading of the grey levels take the place of a misread`() {
    var evidence = Evidence()
    evidence.add([raw("6181724743344", lines: 21)])
    evidence.add(sure: raw("9781594743344", lines: 4))
    #expect(evidence.symbols.map(\.digits.text) == ["9781594743344"])
}

private let checks: [(Int, Bool)] = [
    (9_780_306_406_157, true), (9_780_306_406_158, false), (4_006_381_333_931, true), (36_000_291_452, true), (0, true),
    (1, false),
]

@Test(arguments: checks)
func `knows a right check digit`(_ number: Int, _ isRight: Bool) {
    #expect(Digits(number: number, count: 13).hasRightCheckDigit == isRight)
}

@Test func `keeps leading zeros`() {
    #expect(Digits(number: 36_000_291_452, count: 13).text == "0036000291452")
    #expect(Digits(number: 5, count: 2).text == "05")
}

@Test func `keeps a product code that many lines showed whole`() {
    var evidence = Evidence()
    evidence.add([raw("4006381333931", lines: 40, whole: 30)])
    evidence.add(sure: raw("9781594743344", lines: 4))
    #expect(evidence.symbols.map(\.digits.text) == ["4006381333931"])
    #expect(evidence.settledForBooks.count == 1)
}

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

private func believed(_ scans: [[RawSymbol]]) -> [String] {
    var evidence = Evidence()
    for look in scans { evidence.add(look) }
    return evidence.symbols.map(\.digits.text)
}

@Test func `believes a book of six lines, and another code of ten`() {
    #expect(believed([[raw("9780306406157", lines: 6)]]) == ["9780306406157"])
    #expect(believed([[raw("9780306406157", lines: 5)]]).isEmpty)
    #expect(believed([[raw("9780306406157", lines: 4)], [raw("9780306406157", lines: 2)]]) == ["9780306406157"])
    #expect(believed([[raw("4006381333931", lines: 9)]]).isEmpty)
    #expect(believed([[raw("4006381333931", lines: 10)]]) == ["4006381333931"])
}

@Test func `does not report a code that the grey levels contradict, however many lines show it`() {
    var evidence = Evidence()
    evidence.add([raw("9780306406157", lines: 5)])
    evidence.confirm(raw("9780306406157", lines: 0).digits, false)
    evidence.add([raw("9780306406157", lines: 30)])
    #expect(evidence.symbols.isEmpty)
}

@Test func `believes neither of two payloads in one region, unless one has three times the lines`() {
    #expect(believed([[raw("9780306406157", lines: 20), raw("9780306406751", lines: 10)]]).isEmpty)
    #expect(believed([[raw("9780306406157", lines: 30), raw("9780306406751", lines: 10)]]) == ["9780306406157"])
    #expect(believed([[raw("9780306406157", lines: 9), raw("9780306406751", lines: 9, x: 600)]]).count == 2)
}

@Test func `prefers two lines that show a book to twenty that show another code`() {
    #expect(believed([[raw("8882412014989", lines: 20), raw("9780441014989", lines: 2)]]).isEmpty)
    #expect(believed([[raw("8882412014989", lines: 24), raw("9780441014989", lines: 2)]]) == ["8882412014989"])
}

@Test(arguments: ["9187569709672", "9121569709672", "9721569709672", "9191569709672"])
func `treats 918 and the like as a misread 978`(_ text: String) {
    #expect(believed([[raw(text, lines: 30)]]).isEmpty)
}

@Test func `replaces a misread by a certain result of the grey levels`() {
    var evidence = Evidence()
    evidence.add([raw("6181724743344", lines: 21)])
    evidence.add(certain: raw("9781594743344", lines: 4))
    #expect(evidence.symbols.map(\.digits.text) == ["9781594743344"])
}

private let checks: [(Int, Bool)] = [
    (9_780_306_406_157, true), (9_780_306_406_158, false), (4_006_381_333_931, true), (36_000_291_452, true), (0, true),
    (1, false),
]

@Test(arguments: checks)
func `recognises a correct check digit`(_ number: Int, _ isRight: Bool) {
    #expect(Digits(number: number, count: 13).hasCorrectCheckDigit == isRight)
}

@Test func `keeps leading zeros`() {
    #expect(Digits(number: 36_000_291_452, count: 13).text == "0036000291452")
    #expect(Digits(number: 5, count: 2).text == "05")
}

@Test func `keeps a product code that the grey levels confirmed`() {
    var evidence = Evidence()
    evidence.add([raw("4006381333931", lines: 40)])
    evidence.confirm(Digits(number: 4_006_381_333_931, count: 13), true)
    evidence.add(certain: raw("9781594743344", lines: 4))
    #expect(evidence.symbols.map(\.digits.text) == ["4006381333931", "9781594743344"])
}

@Test func `searches for a book behind another code until the grey levels confirm that code`() {
    var evidence = Evidence()
    evidence.add([raw("4006381333931", lines: 40)])
    let place = Region(around: raw("4006381333931", lines: 40).corners)
    #expect(!evidence.isSettled(place))
    evidence.confirm(Digits(number: 4_006_381_333_931, count: 13), true)
    #expect(evidence.isSettled(place))
}

@Test func `returns the codes that few lines saw in a region as hints`() {
    var evidence = Evidence()
    let place = Region(around: raw("9780306406157", lines: 2).corners)
    evidence.add([raw("9780306406157", lines: 2), raw("4006381333931", lines: 2)], in: place)
    #expect(evidence.hints(in: place).map(\.text) == ["9780306406157"])
}

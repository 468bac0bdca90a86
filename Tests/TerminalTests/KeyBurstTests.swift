import Bookplate
import Testing

@testable import Terminal

@Suite struct `A burst of keys` {
    /// Passes text to a recogniser; every `·` is a pause.
    private func recognised(_ text: String) -> [Keyboard.Key] {
        var recogniser = KeyBurst.Recogniser()
        var presses: [Keyboard.Press] = []
        for character in text {
            switch character {
            case "·": presses += recogniser.settle()
            default: presses += recogniser.append(Keyboard.Press(key: key(character), time: .zero))
            }
        }
        return presses.map(\.key)
    }

    private func key(_ character: Character) -> Keyboard.Key {
        switch character {
        case "\n": .enter
        case "\t": .tab
        case "^": .up
        case "\u{8}": .backspace
        default: .character(character)
        }
    }

    private func burst(_ text: String) -> KeyBurst { KeyBurst(text.map(key)) }

    @Test(arguments: [
        "9780441478125\n·", "9780441478125\t·", "9780441478125\t\n·", "URN:uUas\n·", "sss\n·", "978044147812·",
        "sssssssss·",
        "9780441478125\n9780441013593\n·",
    ])
    func `is a scanner's if it ends with Enter or Tab, or is long`(text: String) {
        #expect(recognised(text) == [.burst(burst(String(text.dropLast())))])
    }

    @Test(arguments: [
        "s·", "s·s·s·", "sss·", "ss\n·", "\n", "\t", "9·7·8·0·4·4·1·4·7·8·1·2·5·\n", "sq·", "a^", "9780441478125^",
        "\n\n\n",
        "abcdefg·", "u\u{8}",
    ])
    func `is a person's if it is short, or no burst`(text: String) {
        let keys = recognised(text)
        if text == "9780441478125^" {
            #expect(keys == [.burst(burst("9780441478125")), .up], "no scanner presses an arrow key")
        } else {
            #expect(keys == text.filter { $0 != "·" }.map(key))
        }
    }

    @Test func `is held back until it is known what it is, and other keys never are`() {
        #expect(recognised("s") == [] && recognised("https://x\n") == [])
        #expect(recognised("^") == [.up] && recognised("\n") == [.enter] && recognised("s^") == [.character("s"), .up])
    }

    @Test func `of any length takes no more memory than its limit`() {
        var recogniser = KeyBurst.Recogniser()
        var bursts = 0
        for _ in 0..<10_000 {
            bursts += recogniser.append(Keyboard.Press(key: .character("1"), time: .zero)).count
        }
        #expect(bursts == 2 && recogniser.isHolding)
    }

    @Test func `that is longer than its limit has no letter that is a key, not even at its end`() {
        let line = String(repeating: "x", count: 4096)
        #expect(recognised(line + "sq\n·s·") == [.burst(burst(line)), .burst(burst("sq\n")), .character("s")])
        #expect(recognised(line + "·s·") == [.burst(burst(line)), .character("s")])
    }

    @Test func `is scanned lines where keys are commands`() {
        var burst = burst("9780441478125\t\n sq \n\nend")
        #expect(burst.next(inField: false) == .code("9780441478125"))
        #expect(burst.next(inField: false) == .code("sq"))
        #expect(burst.next(inField: false) == .code("end"))
        #expect(burst.next(inField: false) == nil)
    }

    @Test func `is typed into a field, except for codes`() {
        var burst = burst("By hand\n\n9780441478125\n\nend")
        #expect(burst.next(inField: true) == .keys("By hand\n".map(key)))
        #expect(burst.next(inField: true) == .keys([.enter]))
        #expect(burst.next(inField: true) == .code("9780441478125"))
        #expect(burst.next(inField: true) == .keys("end".map(key)), "the second Enter belongs to the code")
        // The first line may have closed the field.
        #expect(burst.next(inField: true) == nil)
    }

    @Test(arguments: [
        ("978-0-441-47812-5", true), ("978 0 441 47812 5", true), ("140449264", true),
        ("https://example.org/a b", true),
        ("URN:ISBN:x", true), ("WIFI:S:my net;;", true), ("asin/B00", true), ("B1234567", true),
        ("4006381333931", true),
        ("By hand", false), ("Wüstenplanet", false), ("Attic", false), ("540", false), ("1984", false),
        ("2001: A Space Odyssey", false), ("Re:Zero", false), ("novel, space", false), ("", false),
    ])
    func `looks like a code, or like words`(text: String, isCode: Bool) {
        #expect(KeyBurst.looksLikeCode(text) == isCode)
    }
}

@Suite struct `A card` {
    private let first = ID<QueueItem>()
    private let second = ID<QueueItem>()

    @Test func `can be read after a moment, however often it is shown`() {
        var cards = ReadingGuard<ID<QueueItem>>()
        cards.show(first, at: .seconds(1))
        #expect(!cards.isReadable(at: .seconds(1)) && !cards.isReadable(at: .milliseconds(1349)))
        cards.show(first, at: .milliseconds(1300))
        #expect(cards.isReadable(at: .milliseconds(1350)))
        cards.show(second, at: .seconds(2))
        #expect(!cards.isReadable(at: .milliseconds(2100)) && cards.before == first)
        #expect(!cards.isReadable(at: .milliseconds(1900)), "the key was pressed before the card appeared")
        cards.show(nil, at: .seconds(3))
        cards.show(second, at: .seconds(3))
        #expect(!cards.isReadable(at: .milliseconds(3100)), "it was away in between")
    }

    @Test func `that the person chose is known`() {
        var cards = ReadingGuard<ID<QueueItem>>()
        cards.show(first, at: .seconds(1))
        cards.accept(second)
        cards.show(second, at: .seconds(2))
        #expect(cards.isReadable(at: .seconds(2)))
        cards.show(first, at: nil)
        #expect(cards.isReadable(at: .seconds(2)), "the person's key led to it")
    }
}

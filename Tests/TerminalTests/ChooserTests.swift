import Bookplate
import Testing

@testable import Terminal

@Suite struct `A list to choose from` {
    private static let all = ["Dune", "Dune Messiah", "Émile", "百年孤独"]

    private let plain = Style(isOn: false)

    private func chooser(isCut: Bool = false) -> Chooser {
        Chooser(
            "Which book",
            rows: [
                Chooser.Row(
                    title: "Dune", details: "Frank Herbert (1965) · Read · Attic", id: "1a2b3c4d",
                    hidden: ["9780441013593"]),
                Chooser.Row(title: "Dune Messiah", details: "Frank Herbert (1969) · To Read", id: "5e6f7a8b"),
                Chooser.Row(title: "Émile", details: "Jean-Jacques Rousseau (1762) · On Hold", id: "9c0d1e2f"),
                Chooser.Row(title: "百年孤独", details: "Gabriel García Márquez (1967) · To Read", id: "3a4b5c6d"),
            ], isCut: isCut)
    }

    private func numbered(_ count: Int) -> Chooser {
        Chooser("Which", rows: (1...count).map { Chooser.Row(title: "Book \($0)", details: "Ann", id: "\($0)") })
    }

    /// The keys that the signs in the tables stand for; other characters stand for themselves.
    private static let signs: [Character: Keyboard.Key] = [
        "↑": .up, "↓": .down, "⇞": .pageUp, "⇟": .pageDown, "↖": .top, "↘": .bottom, "⏎": .enter, "⎋": .escape,
        "⌫": .backspace, "⌃": .control("w"), "✗": .control("u"), "∎": .end, "⇥": .tab, "ⓓ": .control("d"),
        "ⓖ": .control("g"),
        "ⓙ": .control("j"), "ⓚ": .control("k"), "ⓝ": .control("n"), "ⓟ": .control("p"),
    ]

    /// Types all keys.
    ///
    /// - Returns: the step of the last key.
    @discardableResult
    private func type(_ keys: String, into chooser: inout Chooser) -> Chooser.Step {
        var step = Chooser.Step.choosing
        for key in keys { step = chooser.press(Self.signs[key] ?? .character(key)) }
        return step
    }

    private func burst(_ text: String) -> Keyboard.Key {
        .burst(KeyBurst(text.map { $0 == "\n" ? .enter : .character($0) }))
    }

    private func titles(_ chooser: Chooser) -> [String] { rows(chooser).map { $0.left[1].text } }

    private func selected(_ chooser: Chooser) -> [String] {
        rows(chooser).filter { $0.left[0].text == "▸ " }.map { $0.left[1].text }
    }

    private func rows(_ chooser: Chooser) -> [ScreenLine] { chooser.lines.filter { $0.left.count == 3 } }

    private func question(_ chooser: Chooser) -> String {
        chooser.lines.first?.left.map(\.text).joined() ?? ""
    }

    /// The keys, the titles of the visible rows, and the title of the selected row.
    static let typed: [(String, [String], String?)] = [
        ("", all, "Dune"), ("↓", all, "Dune Messiah"), ("↑", all, "Dune"), ("↓↓↓↓↓↓", all, "百年孤独"),
        ("↓↓↑", all, "Dune Messiah"), ("↘", all, "百年孤独"), ("↘↖", all, "Dune"), ("⇟", all, "百年孤独"),
        ("⇟⇞", all, "Dune"),
        ("dune", ["Dune", "Dune Messiah"], "Dune"), ("dune↓", ["Dune", "Dune Messiah"], "Dune Messiah"),
        ("↓dune", ["Dune", "Dune Messiah"], "Dune"), ("mess du", ["Dune Messiah"], "Dune Messiah"),
        ("EMILE", ["Émile"], "Émile"), ("marquez", ["百年孤独"], "百年孤独"), ("孤独", ["百年孤独"], "百年孤独"),
        ("attic", ["Dune"], "Dune"), ("5e6f", ["Dune Messiah"], "Dune Messiah"),
        ("9780441013593", ["Dune"], "Dune"), ("to read", ["Dune Messiah", "百年孤独"], "Dune Messiah"),
        ("dunes", [], nil), ("dunes⌫", ["Dune", "Dune Messiah"], "Dune"), ("dunes✗", all, "Dune"),
        ("dune mess⌃", ["Dune", "Dune Messiah"], "Dune"), ("dune mess  ⌃⌃", all, "Dune"), ("⌫⌃✗", all, "Dune"),
        ("ⓙ", all, "Dune Messiah"), ("ⓝⓝ", all, "Émile"), ("↘ⓚ", all, "Émile"), ("↘ⓟⓟ", all, "Dune Messiah"),
        ("dunes↓↑⇟", [], nil), ("du⇥ne", ["Dune", "Dune Messiah"], "Dune"),
    ]

    @Test(arguments: typed)
    func `is narrowed by words, and keys move in it`(keys: String, visible: [String], choice: String?) {
        var chooser = chooser()
        #expect(type(keys, into: &chooser) == .choosing)
        #expect(titles(chooser) == visible)
        #expect(selected(chooser) == (choice.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            ("⏎", .taken(0)), ("↓⏎", .taken(1)), ("mess⏎", .taken(1)), ("marquez⏎", .taken(3)), ("dunes⏎", .choosing),
            ("dunes⌫↓⏎", .taken(1)), ("⎋", .cancelled), ("dune⎋", .cancelled), ("∎", .cancelled),
            ("ⓓ", .cancelled), ("duneⓖ", .cancelled),
        ] as [(String, Chooser.Step)])
    func `ends with a row, or without one`(keys: String, step: Chooser.Step) {
        var chooser = chooser()
        #expect(type(keys, into: &chooser) == step)
    }

    @Test func `counts the rows that are left`() {
        var list = chooser()
        #expect(question(list) == "Which book (4/4): ")
        type("dune", into: &list)
        #expect(question(list) == "Which book (2/4): dune")
        #expect(question(chooser(isCut: true)) == "Which book (4/4+): ")
    }

    @Test func `is narrowed by a scanned number, whose Enter takes nothing`() {
        var chooser = chooser()
        type("mess", into: &chooser)
        #expect(chooser.press(burst("978-0-441-01359-3\n")) == .choosing)
        #expect(chooser.text == "9780441013593" && titles(chooser) == ["Dune"])
        #expect(chooser.press(burst("9780441478125\n")) == .choosing)
        #expect(chooser.text == "9780441478125" && titles(chooser).isEmpty, "the second number replaces the first")
        type("✗", into: &chooser)
        #expect(chooser.press(burst("mess\ndune\n")) == .choosing)
        #expect(titles(chooser) == ["Dune Messiah"])
        type("✗", into: &chooser)
        #expect(chooser.press(.paste("frank\nmess")) == .choosing)
        #expect(titles(chooser) == ["Dune Messiah"])
    }

    /// The keys, the height of the terminal, and the numbers of the visible rows and of the selected row.
    static let scrolled: [(String, Int, ClosedRange<Int>, Int)] = [
        ("", 24, 1...10, 1), ("⇟", 24, 2...11, 11), ("⇟⇟", 24, 12...21, 21), ("⇟⇟⇟⇟", 24, 16...25, 25),
        ("↘", 24, 16...25, 25), ("↘↑↑", 24, 16...25, 23), ("↘⇞", 24, 15...24, 15), ("↘↖", 24, 1...10, 1),
        ("↓↓↓↓↓", 8, 2...6, 6), ("⇟", 8, 2...6, 6), ("↘", 8, 21...25, 25), ("↓", 3, 2...2, 2), ("", 0, 1...1, 1),
    ]

    @Test(arguments: scrolled)
    func `shows a part that has the selected row`(keys: String, height: Int, visible: ClosedRange<Int>, choice: Int) {
        var chooser = numbered(25)
        chooser.fit(columns: 80, rows: height)
        type(keys, into: &chooser)
        #expect(titles(chooser) == visible.map { "Book \($0)" })
        #expect(selected(chooser) == ["Book \(choice)"])
        #expect(chooser.lines.count <= max(2, height))
    }

    @Test func `keeps the selected row visible in a smaller window, and fills a larger one`() {
        var chooser = numbered(25)
        chooser.fit(columns: 80, rows: 24)
        type("↘", into: &chooser)
        chooser.fit(columns: 40, rows: 8)
        #expect(titles(chooser) == (21...25).map { "Book \($0)" } && selected(chooser) == ["Book 25"])
        chooser.fit(columns: 80, rows: 24)
        #expect(titles(chooser) == (16...25).map { "Book \($0)" } && selected(chooser) == ["Book 25"])
    }

    @Test(arguments: [20, 33, 80, 200], [false, true])
    func `stays within the width of the terminal`(width: Int, isASCII: Bool) {
        var chooser = Chooser(
            "Which book is \"\(String(repeating: "long", count: 10))\"",
            rows: [
                Chooser.Row(
                    title: String(repeating: "百年", count: 100), details: "García Márquez · To Read", id: "1a2b3c4d"),
                Chooser.Row(title: "Bad\u{1B}[2J\nTitle", details: String(repeating: "é", count: 300), id: "5e6f7a8b"),
            ])
        chooser.fit(columns: width, rows: 24)
        for typed in ["", String(repeating: "é", count: 300)] {
            type(typed, into: &chooser)
            let texts = chooser.lines.map { $0.text(columns: width - 1, style: plain, isASCII: isASCII) }
            for text in texts { #expect(text.columns < width, "\(text)") }
            let output = chooser.output(style: plain, isASCII: isASCII)
            #expect(!output.contains("\u{1B}[2J") && !output.contains(#/\x1B\[[0-9]*m/#))
            if isASCII { #expect(output.utf8.allSatisfy { $0 < 0x80 }) }
        }
        #expect(chooser.text.count == 200)
    }

    @Test func `leaves the cursor behind the typed text, on its first line`() {
        var chooser = chooser()
        chooser.fit(columns: 60, rows: 24)
        type("messi", into: &chooser)
        let keys = "  type to narrow · ↑↓ move · Enter takes · Esc cancels"
        let row = "▸ Dune Messiah · Frank Herbert (1969) · To Read    5e6f7a8b"
        #expect(
            chooser.output(style: plain, isASCII: false)
                == "\rWhich book (1/4): messi\u{1B}[K\r\n\(row)\u{1B}[K\r\n\(keys)\u{1B}[K\u{1B}[J\u{1B}[2A\r\u{1B}[23C"
        )
    }
}

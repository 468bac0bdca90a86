import Bookplate
import Foundation
import Station
import Testing

@testable import Terminal

@Suite struct `The live screen` {
    @Test func `shows camera, card, presets, list, counts and keys on 80 columns and 24 rows`() throws {
        let lines = try shelfState().text(columns: 80, rows: 24)
        #expect(
            lines.joined(separator: "\n") == """
                Bookplate  ● HD Webcam 1280x720 MJPG 30 fps
                ────────────────────────────────────────────────────────────────────────────────
                  ✓ NEW                                                                   12:41
                  Wizard of Earthsea
                  Ursula K. Le Guin
                  1968 · Parnassus · 205 pages
                  978-0-441-47812-5 · Open Library

                ────────────────────────────────────────────────────────────────────────────────
                  Shelf: Living room 2 · Tags: sf · To Read · owned                    ▲ closer
                ────────────────────────────────────────────────────────────────────────────────
                ▸[x] ✓ Wizard of Earthsea              Ursula K. Le Guin
                 [ ] ▲ 978-3-16-148410-0                                no source knows it
                 [ ] ● Dune                            Frank Herbert    owned, Bedroom 1
                 [x] ✓ ノルウェイの森                  村上春樹






                  a message
                  2 found, 1 owned, 1 not found · 2 ticked         12 waiting from earlier runs
                  [s] save  [a] save all 2  [k] skip  [p] presets  [e] edit  [?] keys  [q] quit
                """)
    }

    @Test(arguments: [(80, 24), (120, 40), (40, 12), (20, 4), (200, 60), (79, 17)])
    func `fills exactly the rows available, and no line is wider than the columns`(columns: Int, rows: Int) throws {
        var state = try shelfState(titles: String(repeating: "百年の孤独 — long ", count: 20))
        let id = try #require(state.current?.id)
        let forms: [LiveState.Mode] = [
            .list, .help, .number(NumberInput()), .edit(id, EditForm(metadata: Metadata())),
            .preset(PresetForm(Preset())),
        ]
        for mode in forms {
            state.mode = mode
            let lines = state.text(columns: columns, rows: rows)
            #expect(lines.count == rows)
            #expect(lines.allSatisfy { $0.columns <= columns }, "\(lines)")
        }
    }

    @Test func `keeps the card, the list, the counts and the way out on 40 columns and 12 rows`() throws {
        let text = try shelfState().text(columns: 40, rows: 12).joined(separator: "\n")
        for part in ["✓ NEW", "Wizard of Earthsea", "▸[x] ✓", "no source kn", "2 found", "[q] quit"] {
            #expect(text.contains(part), "\(part) is missing in\n\(text)")
        }
    }

    @Test func `says what to do without a camera, wrapped, and that typed numbers work`() throws {
        var state = LiveState(batch: Batch())
        state.camera = .failed(
            CameraError(
                .denied,
                "cannot open /dev/video0: permission denied. Add yourself to the group 'video' or install udev/70-bookplate.rules."
            ))
        let lines = state.text(columns: 80, rows: 24)
        #expect(lines[0].contains("▲ camera not allowed"))
        #expect(lines[1...2].joined().contains("70-bookplate.rules"))
        #expect(lines.joined().contains("You can type an ISBN or use a handheld scanner at any time"))
    }

    @Test func `shows the camera's hint instead of the preset if there is no room for both`() throws {
        var state = try shelfState()
        state.hint = .lessLight
        #expect(state.text(columns: 40, rows: 12).contains { $0.hasPrefix("  ▲ less light, or tilt the book") })
        #expect(
            state.text(columns: 80, rows: 24).contains { $0.contains("Shelf: Living") && $0.contains("▲ less light") })
    }

    @Test func `advances from row to row when a person answers the list, and follows the newest otherwise`() throws {
        var state = try manyState(5)
        let newest = try #require(state.current?.id)
        state.advance(from: [newest])
        #expect(state.selected == nil)
        state.move(by: 2)
        let answered = try #require(state.current?.id)
        state.batch.applySkip([answered], change: ID())
        state.advance(from: [answered])
        #expect(state.current?.candidate.metadata.title == "Book 1 ")
    }

    @Test func `scrolls to the selected row, and says how many are above and below`() throws {
        var state = try manyState(50)
        state.move(by: 30)
        let lines = state.text(columns: 80, rows: 24)
        let list = lines.filter { $0.contains("[x]") }
        #expect(list.count == 10)
        #expect(list.contains { $0.hasPrefix("▸") && $0.hasSuffix("Book 19") })
        #expect(lines.contains { $0.contains("↑ 25 newer  ↓ 15 older") })
        state.move(by: -30)
        #expect(state.selected == nil, "at the top the newest is followed again")
    }

    @Test(arguments: [
        ("978044147812", "12 digits"), ("9780441478125", "✓ 978-0-441-47812-5: press Enter to capture"),
        ("9780441478126", "✕ the last digit of this ISBN-13 should be 5, not 6"), ("054792822X", "✓ 978-0-547-92822-7"),
        ("]E09780441478125", "✓ 978-0-441-47812-5"), ("4006381333931", "✕ it is a product code"),
    ])
    func `checks a number with every digit`(typed: String, verdict: String) throws {
        var entry = NumberInput()
        for character in typed { _ = entry.press(.character(character)) }
        var state = LiveState(batch: Batch())
        state.mode = .number(entry)
        #expect(state.text(columns: 120, rows: 24)[21].contains("ISBN: \(typed)_  \(verdict)"))
    }

    @Test func `shows ASCII if the locale is not UTF-8`() throws {
        let screen = LiveScreen(state: try shelfState(), columns: 80, rows: 24)
        let lines = screen.lines().map { $0.text(columns: 80, style: Style(isOn: false), isASCII: true) }
        #expect(lines.allSatisfy { line in line.utf8.allSatisfy { $0 < 0x80 } && line.columns <= 80 })
        #expect(lines.contains { $0.hasPrefix(">[x] + Wizard of Earthsea") })
        #expect("Škvorecký, Gödel, 百年".inASCII == "Skvorecky, Godel, ????")
    }

    @Test func `lets no title control the terminal`() throws {
        let lines = try shelfState(titles: "\u{1B}[2J\u{07}evil\r\n\u{202E}title").text(columns: 80, rows: 24)
        #expect(lines.joined().contains("evil"))
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    }

    @Test func `writes only the lines that changed, as one update`() throws {
        var painter = ScreenPainter(style: Style(isOn: false), isASCII: false)
        let first = painter.update(to: [ScreenLine("one"), ScreenLine("two")], columns: 10)
        #expect(first.contains("\u{1B}[2J") && first.contains("\u{1B}[1;1Hone") && first.contains("\u{1B}[2;1Htwo"))
        let second = painter.update(to: [ScreenLine("one"), ScreenLine("three")], columns: 10)
        #expect(second == "\u{1B}[?2026h\u{1B}[2;1Hthree\u{1B}[K\u{1B}[?2026l")
        #expect(painter.update(to: [ScreenLine("one"), ScreenLine("three")], columns: 10).isEmpty)
        #expect(painter.update(to: [ScreenLine("one"), ScreenLine("three")], columns: 9).contains("\u{1B}[1;1Hone"))
    }

    @Test func `has no colour when it is off, and all states keep a shape`() throws {
        let state = try shelfState()
        #expect(!state.text(columns: 80, rows: 24).joined().contains("\u{1B}"))
        for mark in ["✓", "●", "▲"] { #expect(state.text(columns: 80, rows: 24).joined().contains(mark)) }
    }
}

@Suite struct `Keys of the live screen` {
    @Test(
        arguments: [
            ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[5~a", [.pageUp, .character("a")]), ("\u{1B}[1;2C", []),
            ("\u{1B}[H\u{1B}[4~", [.top, .bottom]), ("\u{1B}x", [.escape, .character("x")]),
            ("é\r", [.character("é"), .enter]),
            ("\u{1B}[200~a q\r9\u{1B}[201~k", [.paste("a q\r9"), .character("k")]),
        ] as [(String, [Keyboard.Key])])
    func `are parsed from what terminals send`(sent: String, keys: [Keyboard.Key]) {
        var bytes = Array(sent.utf8)
        #expect(Keyboard.parse(&bytes, isWhole: false) == keys)
        #expect(bytes.isEmpty)
    }

    @Test(
        arguments: [
            ("\r", [.enter], [.enter]), ("\n", [.enter], [.control("j")]),
            ("\u{0E}\u{15}", [.control("n"), .control("u")], [.control("n"), .control("u")]),
            ("a\u{1B}[Bb", [.character("a"), .down, .character("b")], [.character("a"), .down, .character("b")]),
        ] as [(String, [Keyboard.Key], [Keyboard.Key])])
    func `are the same in a list, but for Control-J`(sent: String, keys: [Keyboard.Key], inList: [Keyboard.Key]) {
        var bytes = Array(sent.utf8)
        #expect(Keyboard.parse(&bytes, isWhole: false) == keys)
        bytes = Array(sent.utf8)
        #expect(Keyboard.parse(&bytes, isWhole: false, inList: true) == inList)
    }

    @Test func `wait for the rest of a sequence that arrives in pieces`() {
        var bytes: [UInt8] = [0x1B]
        #expect(Keyboard.parse(&bytes, isWhole: false).isEmpty)
        bytes.append(UInt8(ascii: "["))
        #expect(Keyboard.parse(&bytes, isWhole: false).isEmpty)
        bytes.append(UInt8(ascii: "A"))
        #expect(Keyboard.parse(&bytes, isWhole: false) == [.up])
        bytes = [0x1B]
        #expect(Keyboard.parse(&bytes, isWhole: true) == [.escape])
    }
}

// MARK: Scenes

extension LiveState {
    /// The lines of the screen, without colours and trailing spaces.
    fileprivate func text(columns: Int, rows: Int) -> [String] {
        LiveScreen(state: self, columns: columns, rows: rows, timeOfDay: { _ in "12:41" }).lines()
            .map { $0.text(columns: columns, style: Style(isOn: false), isASCII: false) }
            .map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }
}

private func candidate(
    _ number: String, _ title: String?, by author: String? = nil, _ outcome: LookupOutcome.Name = .found,
    ownedOn shelf: String? = nil
) throws -> Candidate {
    var metadata = Metadata()
    metadata.title = title
    metadata.authors = author.map { [Contributor(name: $0)] } ?? []
    let isbn = try ISBN(number)
    var copy = Copy(added: Date(timeIntervalSince1970: 1_795_262_400))
    copy.shelf = shelf
    let item = QueueItem(
        isbn: isbn, raw: number, origin: .camera, device: "desk", captured: .now, outcome: outcome,
        source: outcome == .found ? .openLibrary : nil, metadata: metadata)
    let owned = shelf == nil ? [] : [Book(edition: Edition(isbn: isbn, metadata: metadata), copy: copy)]
    return Candidate(item: item, existing: owned)
}

/// A batch of four books with different statuses.
private func shelfState(titles: String = "Wizard of Earthsea") throws -> LiveState {
    var batch = Batch(preset: Preset(shelf: "Living room 2", tags: ["sf"]))
    var last = try candidate("9780441478125", titles, by: "Ursula K. Le Guin")
    last.metadata.publishedDateText = "1968"
    last.metadata.publisher = "Parnassus"
    last.metadata.pageCount = 205
    let candidates = [
        try candidate("9784062748681", "ノルウェイの森", by: "村上春樹"),
        try candidate("9780441013593", "Dune", by: "Frank Herbert", ownedOn: "Bedroom 1"),
        try candidate("9783161484100", nil, .notFound), last,
    ]
    batch.add(candidates)
    for candidate in candidates { batch.update(with: candidate) }
    var state = LiveState(batch: batch)
    state.camera = .streaming(name: "HD Webcam", format: CaptureFormat(width: 1280, height: 720, pixelFormat: .mjpg))
    state.framesPerSecond = 29.9
    state.hint = .closer
    state.earlier = 12
    state.message = LiveState.Message(text: "a message", ink: .plain, until: .zero)
    return state
}

private func manyState(_ count: Int) throws -> LiveState {
    var batch = Batch()
    for number in 0..<count {
        let body = "978044" + String(100_000 + number)
        let digits = try #require((0...9).map { "\(body)\($0)" }.first { (try? ISBN($0)) != nil })
        let candidate = try candidate(digits, "Book \(number) ")
        batch.add([candidate])
        batch.update(with: candidate)
    }
    return LiveState(batch: batch)
}

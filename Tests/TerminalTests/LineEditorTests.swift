import Testing

@testable import Terminal

@Suite struct `A line editor` {
    /// Handles the keys of a text: characters, and names in angle brackets such as `<left>` and `<C-a>`.
    private func edited(_ text: String, _ keys: String) throws -> LineEditor {
        var editor = LineEditor(label: "", text: text)
        for match in keys.matches(of: /<([^>]+)>|(.)/) {
            let key = try match.output.1.map { try #require(Self.keys[String($0)]) }
            _ = editor.press(key ?? .character(Character(String(match.output.2 ?? ""))))
        }
        return editor
    }

    private static let keys: [String: Keyboard.Key] = {
        var keys: [String: Keyboard.Key] = [
            "left": .left, "right": .right, "home": .top, "end": .bottom, "C-left": .wordLeft, "C-right": .wordRight,
            "back": .backspace, "del": .delete, "A-back": .alt(.delete), "A-d": .alt("d"), "paste": .paste("one\ntwo"),
        ]
        for letter in "abdefktuwy" { keys["C-\(letter)"] = .control(letter) }
        return keys
    }()

    /// A text, keys, and the text afterwards with `|` for the cursor.
    @Test(arguments: [
        ("", "Dune", "Dune|"), ("Dune", "<left><left>x", "Dux|ne"),
        ("Dune", "<left><right><right>s", "Dunes|"), ("Dune", "<C-b><C-b><C-f>x", "Dunx|e"),
        ("Dune", "<home>x", "x|Dune"), ("Dune", "<C-a>x<C-e>y", "xDuney|"), ("Dune", "<home><end>", "Dune|"),
        ("Dune", "<home><left><back>", "|Dune"), ("Dune", "<home><del><C-d>", "|ne"), ("Dune", "<del>", "Dune|"),
        ("Dune", "<back><back>", "Du|"), ("Dune", "<left><back>", "Du|e"),
        // By word.
        ("Le Guin, Ursula", "<C-left>", "Le Guin, |Ursula"),
        ("Le Guin, Ursula", "<C-left><C-left>", "Le |Guin, Ursula"),
        ("Le Guin, Ursula", "<home><C-right><C-right>", "Le Guin|, Ursula"), ("a  ", "<C-left>", "|a  "),
        // Cutting and inserting.
        ("Dune Messiah", "<C-left><C-k>", "Dune |"), ("Dune Messiah", "<C-left><C-u>", "|Messiah"),
        ("Dune Messiah", "<C-u>", "|"), ("one two-three", "<C-w>", "one |"), ("one two-three", "<A-back>", "one two-|"),
        ("one two-three  ", "<C-w>", "one |"), ("one two", "<home><A-d>", "| two"),
        ("one two", "<C-w><C-y><C-y>", "one twotwo|"), ("one two three", "<C-w><C-w><C-y>", "one two three|"),
        ("one two three", "<home><A-d><A-d><C-e><C-y>", " threeone two|"),
        ("one two", "<C-w><left><C-k><C-y>", "one |"),
        ("one", "<C-y>", "one|"), ("one", "<C-k><C-y>", "one|"),
        // Swapping.
        ("Dnue", "<left><left><C-t>", "Dun|e"), ("Duen", "<C-t>", "Dune|"), ("D", "<C-t>", "D|"), ("", "<C-t>", "|"),
        // Characters of several code points are one step.
        ("a👩‍👩‍👧‍👦b", "<left><back>", "a|b"), ("e\u{301}x", "<home><right>", "e\u{301}|x"), ("🇩🇪🇫🇷", "<left>", "🇩🇪|🇫🇷"),
        ("百年の孤独", "<left><left><back>", "百年|孤独"), ("x", "<left>e<left><right>", "e|x"),
        ("🇪", "<left>🇩", "🇩🇪|"), ("\u{301}", "<home>e", "e\u{301}|"),
        // A pasted line break is a space.
        ("", "<paste>", "one two|"),
    ])
    func `moves, cuts and inserts as readline does`(text: String, keys: String, result: String) throws {
        let editor = try edited(text, keys)
        #expect(editor.before + "|" + editor.after == result)
    }

    @Test(arguments: [
        (Keyboard.Key.enter, LineEditor.Step.done), (.escape, .cancelled), (.end, .cancelled), (.tab, .editing),
        (.control("d"), .editing), (.burst(KeyBurst([])), .editing),
    ])
    func `ends with Enter and is cancelled with Esc`(key: Keyboard.Key, step: LineEditor.Step) {
        var editor = LineEditor(label: "", text: "Dune")
        #expect(editor.press(key) == step && editor.text == "Dune")
    }

    @Test func `is cancelled with Control-D if it is empty`() {
        var editor = LineEditor(label: "", text: "")
        #expect(editor.press(.control("d")) == .cancelled)
    }

    @Test(arguments: [("Dune", "", "Dune|"), ("Messiah 9", "", "Messiah 9|"), ("0123456789", "<left>", "012345678|9")])
    func `shows a text that fits as it is`(text: String, keys: String, window: String) throws {
        let shown = try edited(text, keys).window(room: 10)
        #expect(shown.before + "|" + shown.after == window)
    }

    @Test(arguments: [
        ("0123456789", "", "…23456789|"), ("0123456789ABCDEF", "<home>", "|012345678…"),
        ("0123456789ABCDEF", "<left><left>", "…789ABCD|EF"),
        ("0123456789ABCDEF", "<home><right><right><right><right><right><right><right><right>", "…234567|89…"),
    ])
    func `scrolls a text that does not fit, and shows some of what follows the cursor`(
        text: String, keys: String, window: String
    ) throws {
        let shown = try edited(text, keys).window(room: 10)
        #expect(shown.before + "|" + shown.after == window)
    }

    @Test(arguments: [
        "", "<left>", "<left><left><left>", "<home>", "<home><right><right>", "<C-left>", "<home><C-right>",
    ])
    func `shows the part of a long text around the cursor`(keys: String) throws {
        for text in ["The Left Hand of Darkness", "百年の孤独百年の孤独", "a👩‍👩‍👧‍👦b百👩‍👩‍👧‍👦c年👩‍👩‍👧‍👦d百年の孤独"] {
            let editor = try edited(text, keys)
            for room in 4...40 {
                let (before, after) = editor.window(room: room)
                let columns = before.columns + max(1, after.columns)
                #expect(columns <= room, "\(before)|\(after)")
                #expect(editor.before.isEmpty == before.isEmpty && editor.after.isEmpty == after.isEmpty)
                #expect(after.first == editor.after.first || after.isEmpty, "the character at the cursor is shown")
                #expect(before.last == editor.before.last || before == "…" || before.isEmpty)
            }
        }
    }

    @Test func `draws its text, and puts the terminal's cursor where the person types`() throws {
        #expect(try edited("Dune", "").line(width: 40) == "\r\u{1B}[K  : Dune")
        #expect(try edited("百年の孤独", "<left><left>").line(width: 40) == "\r\u{1B}[K  : 百年の孤独\u{1B}[4D")
        #expect(try edited("a\u{1B}[2J\nb", "").line(width: 40) == "\r\u{1B}[K  : a [2J↵b")
    }

    @Test func `marks the cursor on a full screen`() throws {
        #expect(try edited("Dune", "").pieces(room: 20) == [.init("Dune_")])
        #expect(try edited("Dune", "<left><left>").pieces(room: 20) == [.init("Du"), .init("n", .cursor), .init("e")])
    }

    @Test(arguments: [
        ("att", Character?.none, "att"), ("  att", nil, "att"), ("", nil, nil), ("sf, sp", ",", "sp"),
        ("sf,", ",", nil),
        ("sf, ", ",", nil), ("Le Guin; Her", ";", "Her"),
    ])
    func `completes what follows the last separator`(text: String, separator: Character?, beginning: String?) {
        #expect(LineEditor(label: "", text: text).beginning(after: separator) == beginning)
    }

    @Test func `completes nothing in the middle of a text`() throws {
        #expect(try edited("attic", "<left>").beginning(after: nil) == nil)
    }

    @Test(arguments: [
        ([], "sf, sp|", LineEditor.Completion.none), (["sp"], "sf, sp|", .none), (["Space"], "sf, Space|", .completed),
        (["space opera", "space travel"], "sf, space |", .several), (["Space", "sport"], "sf, sp|", .several),
    ])
    func `completes a name, or what several names have in common`(
        names: [String], result: String, completion: LineEditor.Completion
    ) throws {
        var editor = LineEditor(label: "", text: "sf, sp")
        let beginning = try #require(editor.beginning(after: ","))
        #expect(editor.complete(beginning, with: names) == completion)
        #expect(editor.before + "|" + editor.after == result)
    }

    @Test(arguments: [
        ("\u{1B}[C\u{1B}[D", [Keyboard.Key.right, .left]), ("\u{1B}[1;5C\u{1B}[1;3D", [.wordRight, .wordLeft]),
        ("\u{1B}Oc\u{1B}Od", [.wordRight, .wordLeft]), ("\u{1B}b\u{1B}f\u{1B}d", [.wordLeft, .wordRight, .alt("d")]),
        ("\u{1B}\u{7F}", [.alt(.delete)]), ("\u{1B}[3~\u{1B}[Z", [.delete, .backTab]),
        ("\u{01}\u{05}\u{17}\u{19}", [.control("a"), .control("e"), .control("w"), .control("y")]),
        ("\u{08}\u{7F}\u{09}\u{04}", [.backspace, .backspace, .tab, .control("d")]),
    ])
    func `gets the keys that terminals send`(bytes: String, keys: [Keyboard.Key]) {
        var pending = Array(bytes.utf8)
        #expect(Keyboard.parse(&pending, isWhole: true) == keys && pending.isEmpty)
    }
}

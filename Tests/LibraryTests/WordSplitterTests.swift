import Bookplate
import Testing

@testable import Library

@Suite struct WordSplitterTests {
    @Test(arguments: [
        ("The Left Hand", "the left hand"), ("L'Étranger", "l etranger letranger"), ("Don’t", "don t dont"),
        ("J.R.R. Tolkien", "j r r jrr tolkien"), ("Spider-Man", "spider man spiderman"),
        ("Straße STRASSE", "strasse strasse"),
        ("e\u{301}te\u{301}", "ete"), ("ﬁn de siècle", "fin de siecle"), ("Iıİi", "iiii"), ("東京都", "東京 京都 都"),
        ("図", "図"), ("a東b", "a 東 b"), ("🐛 bug", "🐛 bug"), ("שלום עולם", "שלום עולם"), ("", ""), ("-'.", ""),
        ("10.000", "10 000 10000"), ("a\u{0}b\u{7}c", "a b c"), ("\r\na\r\n", "a"), ("Ночь, ёлка", "ночь елка"),
        ("ガラス", "カラ ラス ス"), ("1-2-3-4-5-6-7-8", "1 2 3 4 5 6 7 8"), ("C++", "c"), ("Ǆ", "dz"),
    ])
    func `a text is split into words without case, diacritics and signs`(text: String, words: String) {
        var splitter = WordSplitter()
        #expect(splitter.words(of: text, for: .index).map(\.text).joined(separator: " ") == words)
    }

    @Test(arguments: [
        ("東京都", ["東京", "京都"], [false, false]), ("都", ["都"], [true]), ("jean-paul", ["jean", "paul"], [true, true]),
    ])
    func `all words of a query are words of the index`(text: String, words: [String], prefixes: [Bool]) {
        var splitter = WordSplitter()
        let found = splitter.words(of: text, for: .query)
        #expect(found.map(\.text) == words)
        #expect(found.map(\.isPrefix) == prefixes)
    }

    @Test(arguments: [
        ("Der große Gesang", ["gros"], "Der ⟦groß⟧e Gesang"), ("Der große Gesang", ["grosse"], "Der ⟦große⟧ Gesang"),
        ("ﬁn", ["f"], "⟦ﬁ⟧n"), ("E\u{301}te\u{301} d'or", ["ete", "or"], "⟦E\u{301}te\u{301}⟧ d'⟦or⟧"),
        ("L'Étranger", ["letr"], "⟦L'Étr⟧anger"), ("東京都", ["京都"], "東⟦京都⟧"), ("İstanbul", ["ist"], "⟦İst⟧anbul"),
        ("a\nb\u{7}c\u{202E}d", ["b"], "a ⟦b⟧ cd"), ("aaa aab", ["aa", "aab"], "⟦aa⟧a ⟦aab⟧"),
        ("👩‍👩‍👧 dune", ["dune"], "👩‍👩‍👧 ⟦dune⟧"),
    ])
    func `matches are marked in the original spelling`(text: String, query: [String], marked: String) {
        #expect(snippet(text, query).marked() == marked)
    }

    private func snippet(_ text: String, _ query: [String]) -> Snippet {
        var splitter = WordSplitter()
        let marks = splitter.words(of: text, for: .index).flatMap { word in
            query.filter { word.text.hasPrefix($0) }.map { word.start..<word.ends[$0.unicodeScalars.count - 1] }
        }
        return Snippet(cutting: text, around: marks)
    }

    @Test func `an excerpt is short, cut between words, and marks its cuts`() {
        let text = String(repeating: "before ", count: 300) + "spice" + String(repeating: " behind", count: 300)
        let cut = snippet(text, ["spice"])
        #expect(cut.marked().hasPrefix("…before before") && cut.marked().hasSuffix(" behind…"))
        #expect(cut.marked().contains("before ⟦spice⟧ behind"))
        #expect(cut.text.count < 110)
        #expect(cut.ranges.map(\.count) == [5])
        let scalars = Array(cut.text.unicodeScalars)
        #expect(String(String.UnicodeScalarView(scalars[cut.ranges[0]])) == "spice")
    }

    @Test(arguments: ["dune", "dune ", " dune"])
    func `many combining marks take no longer than their length`(around: String) {
        let heap = "x" + String(repeating: "\u{301}", count: 100_000)
        let cut = snippet(around + " " + heap + " " + around, ["dune"])
        #expect(cut.text.unicodeScalars.count < 3000)
        var splitter = WordSplitter()
        #expect(splitter.words(of: String(repeating: "x", count: 300_000), for: .query).map(\.text.count) == [40])
    }
}

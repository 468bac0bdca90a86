import Testing

@testable import Bookplate

@Suite struct `The identity of a work` {
    /// The title, subtitle, number in the series, and first author of a record.
    typealias Record = (title: String, subtitle: String?, number: String?, author: String?)

    private func identity(_ record: Record) -> WorkIdentity? {
        WorkIdentity(
            title: record.title, subtitle: record.subtitle, seriesNumber: record.number, author: record.author)
    }

    private static let same: [(Record, Record)] = [
        (("Dune", nil, nil, "Frank Herbert"), ("DUNE", nil, nil, "frank herbert")),
        (("Zażółć gęślą", nil, nil, "Łukasz Żółw"), ("zazolc gesla", nil, nil, "Lukasz Zolw")),
        (("Catch-22", nil, nil, "Joseph Heller"), ("Catch 22!", nil, nil, "Joseph Heller")),
        (("The Left Hand of Darkness", nil, nil, "A"), ("Left Hand of Darkness", nil, nil, "A")),
        (("Der Prozess", nil, nil, "Franz Kafka"), ("Prozess, ", nil, nil, "Franz Kafka")),
        (("L’Étranger", nil, nil, "Albert Camus"), ("L'etranger", nil, nil, "Albert Camus")),
        (("Sapiens: A Brief History", nil, nil, "A"), ("Sapiens", nil, nil, "A")),
        (("Sapiens: A Brief History", nil, nil, "A"), ("Sapiens", "a brief history", nil, "A")),
        (("Sapiens: A Brief History", "A Brief History", nil, "A"), ("Sapiens – a brief history", nil, nil, "A")),
        (("Dune (Dune Chronicles, #1)", nil, nil, "A"), ("Dune", nil, "1", "A")),
        (("Dune", nil, "1", "A"), ("Dune", nil, nil, "A")),
        (("Hobbit", nil, nil, "J. R. R. Tolkien"), ("The Hobbit", nil, nil, "J.R.R. Tolkien")),
        (("Hobbit", nil, nil, "JRR Tolkien"), ("Hobbit", nil, nil, "Tolkien, J.R.R.")),
        (("Beowulf", nil, nil, nil), ("beowulf", nil, nil, nil)),
        (("吾輩は猫である", nil, nil, "夏目 漱石"), ("吾輩は猫である", nil, nil, "夏目 漱石")),
        (("The", nil, nil, "A"), ("the", nil, nil, "A")),
        ((": a title", nil, nil, "A"), ("A title", nil, nil, "A")),
    ]

    private static let different: [(Record, Record)] = [
        (("Dune", nil, nil, "Frank Herbert"), ("Dune Messiah", nil, nil, "Frank Herbert")),
        (("Poems", nil, nil, "Anne Brontë"), ("Poems", nil, nil, "Emily Brontë")),
        (("Poems", nil, nil, "Anne Brontë"), ("Poems", nil, nil, nil)),
        (("Star Wars: Thrawn", nil, nil, "A"), ("Star Wars: Ahsoka", nil, nil, "A")),
        (("Saga", nil, "1", "A"), ("Saga", nil, "2", "A")),
        (("I, Robot", nil, nil, "A"), ("Robot", nil, nil, "A")),
        (("Fables (Volume 1)", nil, nil, "A"), ("Fables (Volume 2)", nil, nil, "A")),
        (("Война и мир", nil, nil, "A"), ("Мир", nil, nil, "A")),
    ]

    @Test(arguments: same.indices) func `is the same in different spellings`(index: Int) throws {
        let (one, two) = try (#require(identity(Self.same[index].0)), #require(identity(Self.same[index].1)))
        #expect(one.matches(two) && two.matches(one))
        #expect(one.key == two.key)
    }

    @Test(arguments: same.indices) func `shares the beginning of the title and the letters of the author`(index: Int) {
        let beginnings = [Self.same[index].0, Self.same[index].1].map { record in
            let words = [record.title, record.subtitle].compactMap { $0?.searchFolded }.joined(separator: " ")
            let (first, second) = WorkIdentity.beginnings(of: words)
            return Set([first, second].compactMap(\.self))
        }
        #expect(!beginnings[0].isDisjoint(with: beginnings[1]))
        let letters = [Self.same[index].0, Self.same[index].1].map {
            WorkIdentity.letters(ofAuthor: $0.author?.searchFolded ?? "")
        }
        #expect(letters[0] == letters[1])
    }

    @Test(arguments: different.indices) func `is not the same for other works`(index: Int) throws {
        let (one, two) = try (#require(identity(Self.different[index].0)), #require(identity(Self.different[index].1)))
        #expect(!one.matches(two) && !two.matches(one))
    }

    @Test(arguments: [nil, "", "?!", "…"]) func `needs a title with a letter or a digit`(title: String?) {
        #expect(WorkIdentity(title: title, author: "A") == nil)
    }

    @Test func `of a record is that of its title and its first author`() {
        var metadata = Metadata()
        metadata.title = "Beowulf"
        metadata.authors = [
            Contributor(name: "Seamus Heaney", role: .translator), Contributor(name: "Anonymous"),
            Contributor(name: "Second"),
        ]
        #expect(WorkIdentity(metadata) == WorkIdentity(title: "Beowulf", author: "anonymous"))
    }
}

@Suite struct `Duplicate editions` {
    private func groups(
        _ editions: [(hasISBN: Bool, copies: Int, title: String?, works: [String])]
    ) -> [DuplicateFinder<Int>.Group] {
        var finder = DuplicateFinder<Int>()
        for (number, edition) in editions.enumerated() {
            finder.add(
                number, hasISBN: edition.hasISBN, copies: edition.copies,
                WorkIdentity(title: edition.title, author: "A"), works: edition.works)
        }
        return finder.groups
    }

    @Test func `with equal titles were entered twice if one has no ISBN, and are other editions if all have one`() {
        let found = groups([
            (true, 1, "Dune", []), (true, 1, "Emma", []), (false, 1, "Dune: a novel", []), (true, 1, "Emma", []),
            (true, 1, "Ulysses", []), (false, 1, nil, []), (false, 1, nil, []),
        ])
        #expect(
            found == [
                .init(reason: .enteredTwice, editions: [0, 2]), .init(reason: .editions, editions: [1, 3]),
            ])
    }

    @Test func `come before several copies, which come before other editions, and each kind is sorted by title`() {
        let found = groups([
            (true, 3, "Zoo", []), (true, 2, "Ark", []), (true, 1, "Zoo", []), (false, 1, "Yes", []),
            (false, 1, "Yes", []), (false, 1, "No", []), (true, 1, "No", []),
        ])
        #expect(
            found == [
                .init(reason: .enteredTwice, editions: [6, 5]), .init(reason: .enteredTwice, editions: [3, 4]),
                .init(reason: .copies, editions: [1]), .init(reason: .copies, editions: [0]),
                .init(reason: .editions, editions: [0, 2]),
            ])
    }

    @Test func `that are not the same are in no group, except with one that may still be either of them`() {
        func groups(_ hasISBN: [Bool], _ pairs: [(Int, Int)]) -> [[Int]] {
            var finder = DuplicateFinder<Int>()
            for (number, hasISBN) in hasISBN.enumerated() {
                finder.add(number, hasISBN: hasISBN, copies: 1, WorkIdentity(title: "Dune", author: "A"))
            }
            for pair in pairs { finder.markDistinct(pair.1, pair.0) }
            return finder.groups.map(\.editions)
        }
        #expect(groups([true, false], [(0, 1)]) == [])
        #expect(groups([true, true], [(0, 1)]) == [])
        #expect(groups([true, true], [(0, 2)]) == [[0, 1]])
        #expect(groups([false, false, false], [(0, 1)]) == [[0, 1, 2]])
        #expect(groups([false, false, false], [(0, 1), (2, 0)]) == [[1, 2]])
        #expect(groups([false, false, false, false], [(0, 1), (0, 3), (2, 1), (2, 3)]) == [[0, 2], [1, 3]])
        #expect(groups([false, false, false], [(0, 1), (0, 2), (1, 2)]) == [])
    }

    @Test func `without the subtitle belong to the only one that has it, but not to several`() {
        #expect(
            groups([(false, 1, "Star Wars", []), (true, 1, "Star Wars: Thrawn", [])]).map(\.editions) == [[1, 0]])
        let several = groups([
            (false, 1, "Star Wars", []), (true, 1, "Star Wars: Thrawn", []), (true, 1, "Star Wars: Ahsoka", []),
            (false, 1, "Star Wars", []),
        ])
        #expect(several.map(\.editions) == [[0, 3]])
    }

    @Test func `of one work are found whatever their titles are, together with equal titles`() {
        let found = groups([
            (true, 1, "War and Peace", ["OL1W"]), (true, 1, "Krieg und Frieden", ["OL1W", "OL2W"]),
            (true, 1, "Krieg und Frieden", []), (true, 1, "Anna Karenina", ["OL3W"]),
        ])
        #expect(found == [.init(reason: .editions, editions: [0, 1, 2])])
    }
}

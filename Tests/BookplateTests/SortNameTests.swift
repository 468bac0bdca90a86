import FoundationEssentials
import Testing

@testable import Bookplate

@Suite struct SortNameTests {
    @Test(arguments: [
        ("Ursula K. Le Guin", "Le Guin, Ursula K."), ("Jane Austen", "Austen, Jane"), ("Austen, Jane", "Austen, Jane"),
        ("Homer", "Homer"), ("J.R.R. Tolkien", "Tolkien, J.R.R."), ("Ludwig van Beethoven", "Beethoven, Ludwig van"),
        ("Johann Wolfgang von Goethe", "Goethe, Johann Wolfgang von"), ("Dick Van Dyke", "Van Dyke, Dick"),
        ("Van Morrison", "Morrison, Van"), ("Simone de Beauvoir", "Beauvoir, Simone de"),
        ("Jean de La Fontaine", "La Fontaine, Jean de"), ("Daphne du Maurier", "du Maurier, Daphne"),
        ("John le Carré", "le Carré, John"), ("Annette von Droste-Hülshoff", "Droste-Hülshoff, Annette von"),
        ("Hugo von und zu Hof", "Hof, Hugo von und zu"), ("Rogier van der Weyden", "Weyden, Rogier van der"),
        ("José Ortega y Gasset", "Ortega y Gasset, José"), ("Shane Mac Gowan", "Mac Gowan, Shane"),
        ("Martin Luther King Jr.", "King, Martin Luther, Jr."), ("Martin Luther King, Jr.", "King, Martin Luther, Jr."),
        ("Thurston Howell III", "Howell, Thurston, III"), ("村上 春樹", "村上 春樹"), ("한 강", "한 강"),
        ("The Economist", "Economist, The"), ("Oxford University Press", "Oxford University Press"),
        ("Simon and Schuster", "Simon and Schuster"), ("bell hooks", "hooks, bell"), ("  Ada \n Byron ", "Byron, Ada"),
        ("", ""), ("Jr.", "Jr."), ("de", "de"), ("de la", "la, de"),
    ])
    func `puts the family name first`(name: String, sorted: String) {
        #expect(SortName.derived(from: name) == sorted)
    }

    @Test(
        arguments: [
            ("The Dispossessed", "en", "Dispossessed"), ("Die Hard", "en", "Die Hard"),
            ("Die Verwandlung", "de", "Verwandlung"), ("Der Zauberberg", "de", "Zauberberg"),
            ("L'Étranger", "fr", "Étranger"), ("L’amant", "fr", "amant"), ("À la recherche", "fr", "À la recherche"),
            ("La casa de los espíritus", "es", "casa de los espíritus"), ("Het Achterhuis", "nl", "Achterhuis"),
            ("A wakacje", "pl", "A wakacje"), ("“The Raven” and others", "en", "Raven” and others"),
            ("A Wizard of Earthsea", nil, "Wizard of Earthsea"), ("Die Hard", nil, "Die Hard"),
            ("Das Schloss", nil, "Schloss"), ("Les Misérables", nil, "Misérables"), ("El Cid", nil, "El Cid"),
            ("A is for Alibi", "en", "A is for Alibi"), ("The", "en", "The"), ("It", "en", "It"), ("", nil, ""),
            ("Theory", "en", "Theory"), ("The Road", "en-GB", "Road"), ("A", nil, "A"), ("The …", nil, "The …"),
        ] as [(String, String?, String)])
    func `leaves out an article of the book's language`(title: String, language: String?, rest: String) {
        #expect(SortTitle(title, language: language).rest == rest)
    }

    @Test(
        arguments: [
            ("2", 2...2), ("2.5", 2.5...2.5), ("2,5", 2.5...2.5), ("3-4", 3...4), ("Bd. 7", 7...7), ("#12", 12...12),
            ("1 of 3", 1...1), ("4 – 6", 4...6),
        ] as [(String, ClosedRange<Double>)])
    func `reads the number in a series`(text: String, range: ClosedRange<Double>) throws {
        let number = try #require(SeriesNumber(text))
        #expect(number.first...number.last == range)
    }

    @Test(arguments: [nil, "", "A", "9999999999", String(repeating: "9", count: 5000)] as [String?])
    func `finds no number where there is none`(text: String?) { #expect(SeriesNumber(text) == nil) }

    private func book(_ title: String, _ number: String?, _ year: String? = nil, series: String = "S") -> Book {
        var metadata = Metadata()
        (metadata.title, metadata.series, metadata.seriesNumber) = (title, series, number)
        metadata.publishedDate = year.flatMap { CalendarDay($0) }
        return Book(
            edition: Edition(isbn: nil, metadata: metadata), copy: Copy(added: .init(timeIntervalSince1970: 0)))
    }

    @Test(
        arguments: [
            ("1", "Two"), ("2", "Half"), ("Bd. 2,5", "Omnibus"), ("4-6", "Nine"), ("5", "Nine"), ("9", nil),
        ] as [(String, String?)])
    func `finds the next volume, whose number may have words and stand for several`(
        number: String, title: String?
    ) throws {
        let others = [
            book("Nine", "Band 9"), book("Half", "2.5"), book("Two", "2"), book("Omnibus", "4-6"), book("None", "A"),
            book("Other", "3", series: "T"),
        ]
        let volume = try #require(Volume(book("This", number, series: "s")))
        #expect(volume.next(among: others)?.edition.metadata.title == title)
    }

    @Test func `orders a series by number, year and title, with its gaps`() throws {
        let series = Series(
            name: "s",
            books: [
                book("Old", nil, "1990"), book("New", nil, "2000"), book("Undated B", nil), book("The Undated A", nil),
                book("Nine", "9"), book("Half", "2.5"), book("Two", "2"), book("Omnibus", "4-6"),
            ])
        #expect(
            series.books.map(\.edition.metadata.title) == [
                "Two", "Half", "Omnibus", "Nine", "Old", "New", "The Undated A", "Undated B",
            ])
        #expect(series.gaps == [1...1, 3...3, 7...8] && series.name == "S")
        #expect(Series(name: "x", books: [book("Far", "999999")]).gaps == [1...999_998])
    }
}

import Bookplate
import Testing

@Suite struct TitleHintTests {
    private func metadata(_ title: String, _ subtitle: String? = nil) -> Metadata {
        var metadata = Metadata()
        (metadata.title, metadata.subtitle) = (title, subtitle)
        metadata.attribute(to: .openLibrary)
        return metadata
    }

    @Test(arguments: [
        ("Slocum and the Gunmen (Slocum Series #47)", "Slocum and the Gunmen", "Slocum Series", "47" as String?),
        ("Dune (Dune Chronicles, Book 1)", "Dune", "Dune Chronicles", "1"),
        ("Emma (Oxford World's Classics, Vol. 12)", "Emma", "Oxford World's Classics", "12"),
        ("Gorgias (Loeb Classical Library series)", "Gorgias", "Loeb Classical Library series", nil),
    ])
    func `a series in brackets is offered apart from the title`(
        _ text: String, _ title: String, _ series: String, _ number: String?
    ) throws {
        let edit = try #require(metadata(text).titleHint?.edit)
        #expect(edit.title == title && edit.series == series && edit.seriesNumber == number)
    }

    @Test func `a series other than the record's is only pointed out`() {
        var book = metadata("Slocum and the Gunmen (Slocum Series #47)")
        book.series = "Jove Westerns"
        #expect(book.titleHint?.sentence == "The title seems to contain a series: Slocum Series, number 47.")
        #expect(book.titleHint?.edit == nil)
        book.series = "Slocum series"
        #expect(book.titleHint?.edit?.title == "Slocum and the Gunmen")
    }

    @Test func `a subtitle that the title repeats is offered without it`() {
        let hint = metadata("Weaving the Web: The Original Design", "the original design").titleHint
        #expect(hint?.kind == .repeatedSubtitle && hint?.edit?.title == "Weaving the Web")
    }

    @Test func `capital letters are pointed out`() {
        let hint = metadata("THE LEFT HAND OF DARKNESS").titleHint
        #expect(hint?.kind == .capitals && hint?.edit == nil)
    }

    @Test(arguments: [
        ("Catch-22", nil as String?), ("SPQR", nil), ("1Q84 (Book 1)", nil), ("(Slocum Series #47)", nil),
        ("Fables (deluxe edition)", nil), ("Poems (1945)", nil), ("The Web: Design", "The Web: Design"),
        ("日本語の本の長いタイトル", nil),
    ])
    func `other titles get no hint`(_ title: String, _ subtitle: String?) {
        #expect(metadata(title, subtitle).titleHint == nil)
    }

    @Test func `what a person has entered gets no hint`() {
        var book = metadata("THE LEFT HAND OF DARKNESS")
        book.sources[.title] = .person
        #expect(book.titleHint == nil)
    }
}

import Bookplate
import Testing

@Suite struct `The edition of a source that is closest to a book` {
    private func offer(
        _ title: String, _ year: String?, by author: String? = nil, _ identifiers: [String: [String]] = [:]
    ) -> EditionOffer {
        var metadata = Metadata()
        (metadata.title, metadata.identifiers) = (title, identifiers)
        metadata.publishedDate = year.flatMap { CalendarDay($0) }
        metadata.authors = author.map { [Contributor(name: $0)] } ?? []
        return EditionOffer(isbn: nil, metadata: metadata)
    }

    private func edition(_ offer: EditionOffer) -> Edition { Edition(isbn: nil, metadata: offer.metadata) }

    @Test func `is of the same year and has all the words of the title`() {
        let book = edition(offer("The Invincible", "1964", by: "Lem"))
        let (fits, later) = (offer("The Invincible: A Novel", "1964"), offer("The Invincible", "2020"))
        #expect(book.closest(of: [later, offer("The Cyberiad", "1964"), fits]) == fits)
        #expect(book.closest(of: [offer("The Cyberiad", "1964"), later]) == nil)
        #expect(book.closest(of: [offer("The Invincible", nil, by: "Someone Else")]) == nil)
        #expect(book.closest(of: [offer("The Invincible", nil)])?.metadata.title == "The Invincible")
    }

    @Test func `is the one with the same number, whatever its year and title`() {
        let book = edition(offer("Niezwyciężony", "1964", ["openlibrary": ["OL7M"]]))
        let same = offer("The Invincible", "1973", ["openlibrary": ["OL7M"]])
        #expect(book.closest(of: [offer("Niezwyciężony", "1964"), same]) == same)
        #expect(edition(offer("?", nil)).closest(of: [same]) == nil)
    }
}

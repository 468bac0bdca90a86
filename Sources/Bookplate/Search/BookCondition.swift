/// A condition on a book, such as a person writes it in the query language (see docs/query.md). ``QueryParser`` makes
/// conditions, and the library evaluates them for the present reader.
public indirect enum BookCondition: Sendable, Equatable {
    /// All conditions hold. An empty list holds for every book.
    case all([BookCondition])
    /// At least one of the conditions holds. An empty list holds for no book.
    case any([BookCondition])
    case not(BookCondition)

    /// The words of ``BookQuery/text``, in any field that a search for words covers.
    case words(String)
    /// The words in this order, next to each other, within one text: the title, a name, a note and so on.
    ///
    /// - Parameter isOpen: true if the last word may be the beginning of a longer word.
    case phrase(String, isOpen: Bool)
    /// Words, or a phrase, in one field.
    case text(BookText, String, isPhrase: Bool)

    /// A tag or a shelf by its name, ignoring case and, for a tag, diacritics.
    ///
    /// - Parameter isBeginning: true if the name only begins with the text.
    case tag(String, isBeginning: Bool)
    case shelf(String, isBeginning: Bool)
    case status(Copy.Status)
    /// A language code, as in ``BookQuery/languages``.
    case language(String)
    case format(Metadata.Format)
    /// A number of quarter stars in a range.
    case rating(ClosedRange<Int>)
    case pages(ClosedRange<Int>)
    /// The year of publication.
    case year(ClosedRange<Int>)
    case added(Period)
    /// The day on which the displayed reading was started, as in ``BookQuery/started``.
    case started(Period)
    case finished(Period)
    /// A finished reading, which need not be the displayed one, is certain to lie in a period
    /// (``Period/contains(_:)``). Statistics count the books of a period in the same way.
    case read(Period)
    /// The number of finished readings.
    case times(ClosedRange<Int>)
    /// The book lacks a field.
    case lacks(MissingField)
    case isOwned, isOnWishlist, isFavourite
    /// The digits with which the ISBN begins, in its 13- or 10-digit form.
    case isbn(String)
    /// The letters and digits with which the book's id ends.
    case id(String)
    /// A reader has read the book, as in ``BookQuery/readBy``.
    case readBy(ID<Reader>)
    case readByNobody
}

/// A text of a book in which a query can search.
public enum BookText: String, Sendable, CaseIterable {
    case title, subtitle
    /// The name of a contributor in any role.
    case author
    case series, publisher
    /// A genre or subject.
    case genre
    case note, quote
}

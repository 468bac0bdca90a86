import ArgumentParser

/// The book that a command applies to. If the user names it by several words, they need no quotes, because no other
/// argument follows them.
struct NamedBook: ParsableArguments {
    @Argument(help: .book, completion: .values(.bookWords)) var words: [String]

    var name: String { words.joined(separator: " ") }
}

/// The book that a command applies to, unless a query finds its books. It is named as ``NamedBook`` is.
struct OptionalBook: ParsableArguments {
    @Argument(help: .book, completion: .values(.bookWords)) var words: [String] = []

    var name: String { words.joined(separator: " ") }
}

/// Several books, each named by one argument.
struct NamedBooks: ParsableArguments {
    @Argument(help: .books, completion: .values(.book)) var names: [String]
}

/// Several books, as ``NamedBooks``, unless a query finds them.
struct OptionalBooks: ParsableArguments {
    @Argument(help: .books, completion: .values(.book)) var names: [String] = []
}

extension ArgumentHelp {
    fileprivate static let book = ArgumentHelp(
        "An ISBN, an id, or words from the title or authors.", valueName: "book")
    fileprivate static let books = ArgumentHelp(
        "The books: an ISBN, an id or words from the title or authors for each. Put several words in quotes.",
        valueName: "book")
}

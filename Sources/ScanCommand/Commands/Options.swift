import ArgumentParser
import Bookplate
import Foundation
import Library
import Station
import Terminal

/// The options of every command that uses the library or the sources.
struct PathOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The library file.", valueName: "file"), completion: .file(extensions: ["sqlite"]))
    var library: String?

    @Option(
        help: ArgumentHelp("The file of the offline index.", valueName: "file"),
        completion: .file(extensions: ["sqlite"]))
    var index: String?

    @Flag(help: "Do not contact any online source.")
    var offline = false

    // Only `scan reader --help` explains it, because most libraries have one reader.
    @Option(help: ArgumentHelp("The reader.", valueName: "name", visibility: .hidden), completion: .values(.reader))
    var reader: String?

    /// - Parameter flags: the values of further options of the command.
    func settings(_ flags: [Setting: String] = [:]) throws -> Settings {
        var flags = flags
        flags[.library] = library
        flags[.index] = index
        flags[.reader] = reader
        if offline { flags[.offline] = "1" }
        return try Settings(flags: flags)
    }
}

/// The options for the form of the output, which every command with `--json` has.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print JSON, one object per line.")
    var json = false
    @Option(help: ColorChoice.help) var color: ColorChoice = .auto

    /// Applies the choice of colours before anything is printed.
    func validate() { Output.shared.useColor(color) }
}

/// The options for the form of the output of the commands whose other words are a query. They have no short options,
/// because a word of a query may begin with a hyphen.
struct QueryOutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object per line.")
    var json = false
    @Option(help: ColorChoice.help) var color: ColorChoice = .auto

    /// Applies the choice of colours before anything is printed.
    func validate() { Output.shared.useColor(color) }
}

extension ColorChoice: ExpressibleByArgument {
    fileprivate static var help: ArgumentHelp {
        ArgumentHelp(
            "Use colours (default: on a terminal, unless NO_COLOR is set, or wherever CLICOLOR_FORCE is set).",
            valueName: "when")
    }
}

/// The preset that a batch gives to every book it saves.
struct PresetOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Put the books on this shelf.", valueName: "name"),
        completion: .values(.shelf))
    var shelf: String?

    @Option(
        name: [.customShort("t"), .customLong("tag")],
        help: ArgumentHelp("Add this tag to the books (can be repeated).", valueName: "name"),
        completion: .values(.tag))
    var tags: [String] = []

    @Option(help: ArgumentHelp("Give the books this status.", valueName: "status"))
    var status: Copy.Status = .toRead

    @Flag(help: "Put the books on the wishlist instead of marking them as owned.")
    var wishlist = false

    /// Returns the preset with checked names.
    ///
    /// - Throws: ``CommandError`` if a name is empty or too long.
    func preset() throws -> Preset {
        do {
            return try Preset(shelf: shelf, tags: tags, status: status, isWishlist: wishlist).checked()
        } catch {
            throw CommandError(.usage, error.description + ".")
        }
    }
}

extension Copy.Status: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}

/// The options that confirm candidates in advance.
struct ConfirmOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Save every book that was identified, without asking. For second copies, also use --another-copy.")
    var yes = false

    @Flag(help: "With --yes, also save another copy of each book that you already own.")
    var anotherCopy = false

    func validate() throws {
        if anotherCopy, !yes {
            throw ValidationError("--another-copy works only with --yes. Without --yes, press c when a book is shown.")
        }
    }

    /// Returns the way in which captured books are answered: in advance, at the keyboard, or not at all.
    func answer(json: Bool) -> CaptureRun.Answer {
        if yes { return .advance }
        if json { return .leave }
        return Keyboard.open().map { .prompt(.keyboard($0)) } ?? .leave
    }
}

/// The facts about a copy that can be given when the copy is entered, and that can be changed later.
struct CopyFactOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The rating in stars, from 0.25 to 5 in steps of 0.25; 0 clears it.", valueName: "stars"))
    var rating: Double?
    @Flag(inversion: .prefixedNo, help: "Mark the book as owned or not owned.") var owned: Bool?
    @Flag(inversion: .prefixedNo, help: "Mark the book as a favourite, or remove the mark.") var favourite: Bool?
    @Option(help: ArgumentHelp("The person who recommended the book; \"\" clears it.", valueName: "name"))
    var recommendedBy: String?
    @Flag(help: "Record whether you would recommend the book, or clear this answer.")
    var recommendation: Recommendation?
    @Flag(
        name: .customLong("public"), inversion: .prefixedNo,
        help: "Include the book in exports for other people, or leave it out of them.")
    var isPublic: Bool?
    @Option(
        help: ArgumentHelp(
            "The number of pages of this book that you want to read per day; 0 clears it.", valueName: "pages"))
    var dailyGoal: Int?
    @Option(
        help: ArgumentHelp(
            "Count the book towards a cultural goal, such as \"African Literature\".", valueName: "category"))
    var culturalGoal: String?
    @Flag(help: "Do not count the book towards a cultural goal.") var noCulturalGoal = false
    @Option(
        help: ArgumentHelp(
            "The day on which the book was added: 2026-01-15, 'today' or 'yesterday'.", valueName: "day"),
        completion: .values(.day))
    var added: String?

    enum Recommendation: EnumerableFlag {
        case yes, no, unknown

        static func name(for value: Recommendation) -> NameSpecification {
            switch value {
            case .yes: .customLong("would-recommend")
            case .no: .customLong("no-would-recommend")
            case .unknown: .customLong("clear-would-recommend")
            }
        }

        var value: Bool? {
            switch self {
            case .yes: true
            case .no: false
            case .unknown: nil
            }
        }
    }

    var isEmpty: Bool {
        rating == nil && owned == nil && favourite == nil && recommendedBy == nil && recommendation == nil
            && isPublic == nil && dailyGoal == nil && culturalGoal == nil && !noCulturalGoal && added == nil
    }

    func validate() throws {
        if culturalGoal != nil, noCulturalGoal {
            throw ValidationError(
                "--cultural-goal and --no-cultural-goal contradict each other. Give only one of them.")
        }
    }

    /// Checks the options and returns them as a change.
    ///
    /// - Parameter zone: the time zone of the days.
    /// - Throws: ``TextRefusal``, ``InputRefusal`` or ``CommandError`` for an invalid value.
    func change(in zone: TimeZone = .current) throws -> @Sendable (inout Copy) -> Void {
        try Self.check(rating)
        if dailyGoal != 0 { try NumberLimit.check(dailyGoal, as: "daily goal", in: NumberLimit.goal) }
        func text(_ text: String?, _ what: String) throws -> String?? {
            try text.map { $0.isEmpty ? nil : try $0.checked(as: what, limit: TextLimit.name) }
        }
        let recommender = try text(recommendedBy, "recommender's name")
        let category = try text(culturalGoal, "cultural goal")
        let added = try added.map { try Self.instant(of: $0, in: zone) }
        let given = self
        return { copy in
            if let rating = given.rating { copy.rating = rating == 0 ? nil : rating }
            copy.isOwned = given.owned ?? copy.isOwned
            copy.isFavourite = given.favourite ?? copy.isFavourite
            if let recommender { copy.recommendedBy = recommender }
            if let recommendation = given.recommendation { copy.wouldRecommend = recommendation.value }
            copy.isPublic = given.isPublic ?? copy.isPublic
            if let goal = given.dailyGoal { copy.dailyGoal = goal == 0 ? nil : goal }
            if let category { (copy.countsForCulturalGoal, copy.culturalGoalCategory) = (true, category) }
            if given.noCulturalGoal { (copy.countsForCulturalGoal, copy.culturalGoalCategory) = (false, nil) }
            if let added, CalendarDay(copy.added, in: zone) != added.day { copy.added = added.instant }
        }
    }

    /// - Throws: ``CommandError`` if a rating is neither in quarter stars nor 0, which stands for no rating.
    static func check(_ rating: Double?) throws {
        guard let rating, rating != 0, !Copy.isRating(rating) else { return }
        throw CommandError(.usage, "--rating must be from 0.25 to 5 in steps of 0.25, or 0 for no rating.")
    }

    private static func instant(of text: String, in zone: TimeZone) throws -> (day: CalendarDay, instant: Date) {
        let day = try LocalTime(now: Date(), zone: zone).wholeDay(text, for: "--added")
        return (day, day.noon(in: zone))
    }
}

/// The facts about a copy that can be changed later, in addition to ``CopyFactOptions``.
struct CopyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Put the book on this shelf; \"\" takes it off its shelf.", valueName: "name"),
        completion: .values(.shelf))
    var shelf: String?
    @Option(
        name: [.customShort("t"), .customLong("tag")],
        help: ArgumentHelp("Add this tag (can be repeated).", valueName: "name"),
        completion: .values(.tag))
    var tags: [String] = []
    @Option(
        name: .customLong("untag"), help: ArgumentHelp("Remove this tag (can be repeated).", valueName: "name"),
        completion: .values(.tag))
    var untags: [String] = []
    @Option(help: ArgumentHelp("The new status of the book.", valueName: "status")) var status: Copy.Status?
    @Flag(inversion: .prefixedNo, help: "Put the book on the wishlist, or take it off the wishlist.")
    var wishlist: Bool?

    var isEmpty: Bool { shelf == nil && tags.isEmpty && untags.isEmpty && status == nil && wishlist == nil }

    /// Checks the options and returns them as a change.
    ///
    /// - Throws: ``TextRefusal`` for a name that is empty, damaged or too long.
    func change() throws -> @Sendable (inout Copy) -> Void {
        let shelf = try shelf.map { $0.isEmpty ? nil : try $0.checked(as: "shelf", limit: TextLimit.name) }
        let tags = try tags.map { try $0.checked(as: "tag", limit: TextLimit.name) }
        let untags = Set(untags.map(\.cleanedLine.caseFolded))
        let (status, wishlist) = (status, wishlist)
        return { copy in
            if let shelf { copy.shelf = shelf }
            copy.tags.removeAll { untags.contains($0.cleanedLine.caseFolded) }
            copy.tags += tags
            copy.status = status ?? copy.status
            copy.isOnWishlist = wishlist ?? copy.isOnWishlist
        }
    }
}

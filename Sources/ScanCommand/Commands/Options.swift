import ArgumentParser
import Bookplate
import Foundation
import Library
import Station

/// What every command that touches the library or the sources takes.
struct PathOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The library file.", valueName: "file"), completion: .file())
    var library: String?

    @Option(help: ArgumentHelp("The offline index.", valueName: "file"), completion: .file())
    var index: String?

    @Flag(help: "Ask no online source.")
    var offline = false

    func settings() throws -> Settings {
        var flags: [Setting: String] = [:]
        flags[.library] = library
        flags[.index] = index
        if offline { flags[.offline] = "1" }
        return try Settings(flags: flags)
    }
}

/// The one book that a command is about: several words need no quotes, since nothing else follows them.
struct NamedBook: ParsableArguments {
    @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var words: [String]

    var name: String { words.joined(separator: " ") }
}

/// Books, one an argument.
struct NamedBooks: ParsableArguments {
    @Argument(help: ArgumentHelp("ISBN, id or words each; quote a name of several words.", valueName: "book"))
    var names: [String]
}

/// `--json`
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false
}

/// What a batch gives every book it saves.
struct PresetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Put the books on this shelf.", valueName: "name"))
    var shelf: String?

    @Option(
        name: .customLong("tag"), help: ArgumentHelp("Give the books this tag (can be repeated).", valueName: "name"))
    var tags: [String] = []

    @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf.", valueName: "status"))
    var status: Copy.Status = .toRead

    @Flag(help: "The books are wishes, not owned.")
    var wishlist = false

    /// - Throws: ``CommandError`` when a name is empty or too long.
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

/// Who says yes, and to what.
struct ConfirmOptions: ParsableArguments {
    @Flag(help: "Save what is found without asking; never a second copy.")
    var yes = false

    @Flag(help: "Save another copy of what is owned already (with --yes).")
    var anotherCopy = false

    func validate() throws {
        if anotherCopy, !yes { throw ValidationError("--another-copy goes with --yes; at the prompt it is the key c.") }
    }

    /// The person in advance, the person at the keyboard, or nobody.
    func answer(json: Bool) -> CaptureRun.Answer {
        if yes { return .advance }
        if json { return .leave }
        return Keyboard.open().map { .prompt(.keyboard($0)) } ?? .leave
    }
}

/// What a person can say of a copy on the command line, while entering it and later.
struct CopyFactOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Stars, 0.25 to 5 in quarters; 0 clears.", valueName: "stars")) var rating: Double?
    @Flag(inversion: .prefixedNo, help: "Whether it is owned.") var owned: Bool?
    @Flag(inversion: .prefixedNo, help: "Whether it is a favourite.") var favourite: Bool?
    @Option(help: ArgumentHelp("Who recommended it; \"\" clears it.", valueName: "who")) var recommendedBy: String?
    @Flag(help: "Whether you would recommend it.") var recommendation: Recommendation?
    @Flag(name: .customLong("public"), inversion: .prefixedNo, help: "Whether an export for others may contain it.")
    var isPublic: Bool?
    @Option(help: ArgumentHelp("Pages that you want to read of it a day; 0 clears.", valueName: "pages"))
    var dailyGoal: Int?
    @Option(
        help: ArgumentHelp("Counts it for a cultural goal, such as \"African Literature\".", valueName: "category"))
    var culturalGoal: String?
    @Flag(help: "It counts for no cultural goal.") var noCulturalGoal = false
    @Option(help: ArgumentHelp("The day on which it came: 2026-01-15, today or yesterday.", valueName: "day"))
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
            throw ValidationError("--cultural-goal and --no-cultural-goal say two things; give one of them.")
        }
    }

    /// What was given, checked, as a change.
    ///
    /// - Parameter zone: where the days are.
    /// - Throws: ``TextRefusal``, ``InputRefusal`` or ``CommandError`` for what cannot be.
    func change(in zone: TimeZone = .current) throws -> @Sendable (inout Copy) -> Void {
        if let rating, rating != 0, !Copy.isRating(rating) {
            throw CommandError(.usage, "--rating is 0.25 to 5 in quarters, or 0 for none.")
        }
        if dailyGoal != 0 { try NumberLimit.check(dailyGoal, as: "daily goal", in: NumberLimit.goal) }
        func text(_ text: String?, _ what: String) throws -> String?? {
            try text.map { $0.isEmpty ? nil : try $0.checked(as: what, limit: TextLimit.name) }
        }
        let recommender = try text(recommendedBy, "name of who recommended it")
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

    private static func instant(of text: String, in zone: TimeZone) throws -> (day: CalendarDay, instant: Date) {
        let day = try When(now: Date(), zone: zone).wholeDay(text, for: "--added")
        return (day, day.noon(in: zone))
    }
}

/// What a person can change of a copy on the command line, besides ``CopyFactOptions``.
struct CopyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The shelf it stands on; \"\" takes it off.", valueName: "name")) var shelf: String?
    @Option(name: .customLong("tag"), help: ArgumentHelp("Add this tag (can be repeated).", valueName: "name"))
    var tags: [String] = []
    @Option(name: .customLong("untag"), help: ArgumentHelp("Take this tag off (can be repeated).", valueName: "name"))
    var untags: [String] = []
    @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf.", valueName: "status")) var status: Copy.Status?
    @Flag(inversion: .prefixedNo, help: "Whether it is on the wishlist.") var wishlist: Bool?

    var isEmpty: Bool { shelf == nil && tags.isEmpty && untags.isEmpty && status == nil && wishlist == nil }

    /// What was given, checked, as a change.
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

/// The form of an author's name by which lists are sorted, with the family name first: "Le Guin, Ursula K.".
///
/// The rule knows only the name, not the person, so it is sometimes wrong: a person can correct the sort name of an
/// author.
///
/// - A particle in lower case moves behind the given names, as it does in German, Dutch, French, Spanish and
///   Portuguese catalogues: "Beethoven, Ludwig van". A particle with a capital letter is part of the family name:
///   "Van Dyke, Dick". So is a single French article or contraction: "du Maurier, Daphne".
/// - A suffix stays last: "King, Martin Luther, Jr.".
/// - Names that have a comma already, single words, and names in Han, Hangul or kana stay as they are, and so do names
///   that look like an organisation's, but an English article moves behind them: "Economist, The".
///
/// Source of the customs: Anglo-American Cataloguing Rules, 22.5D.
public enum SortName {
    /// Returns the sort name that the rule derives from a name as it is written.
    public static func derived(from name: String) -> String {
        let name = name.cleanedLine
        var words = name.split(separator: " ")[...]
        guard words.count > 1, !name.unicodeScalars.contains(where: isEastAsian) else { return name }
        var suffix: Substring?
        if let comma = name.firstIndex(of: ",") {
            // "Martin Luther King, Jr." is not inverted, but "King, Martin Luther" is.
            let rest = name[name.index(after: comma)...].drop { $0 == " " }
            guard isSuffix(rest) else { return name }
            suffix = rest
            words = name[..<comma].split(separator: " ")[...]
        } else if words.count > 2, let last = words.last, isSuffix(last) {
            suffix = words.removeLast()
        }
        if suffix == nil, isOrganisation(words) {
            guard words.first == "The" else { return name }
            return words.dropFirst().joined(separator: " ") + ", The"
        }
        guard words.count > 1 else { return name }
        let (given, particles, family) = parts(of: words)
        guard !given.isEmpty else { return name }
        return
            ([family.joined(separator: " "), (given + particles).joined(separator: " ")]
            + (suffix.map { [String($0)] } ?? []))
            .joined(separator: ", ")
    }

    /// Divides the words of a name.
    private static func parts(
        of words: ArraySlice<Substring>
    ) -> (given: ArraySlice<Substring>, particles: ArraySlice<Substring>, family: ArraySlice<Substring>) {
        var start = words.endIndex - 1
        // "José Ortega y Gasset"
        if start - 3 >= words.startIndex, words[start - 1] == "y" { start -= 2 }
        // The first word is a given name, also if it looks like a particle: "Van Morrison".
        while start - 1 > words.startIndex, isCapitalParticle(words[start - 1]) { start -= 1 }
        var particles = start
        while particles - 1 > words.startIndex, lowerParticles.contains(words[particles - 1]) { particles -= 1 }
        if particles == start, start - 1 > words.startIndex, lowerArticles.contains(words[start - 1]) {
            return (words[..<(start - 1)], [], words[(start - 1)...])
        }
        return (words[..<particles], words[particles..<start], words[start...])
    }

    private static func isCapitalParticle(_ word: Substring) -> Bool {
        guard let first = word.unicodeScalars.first, first.properties.isUppercase else { return false }
        return capitalParticles.contains(word.lowercased())
    }

    /// Particles that, with a capital letter, belong to the family name.
    private static let capitalParticles: Set = [
        "de", "del", "della", "delle", "dello", "degli", "dei", "di", "da", "dal", "dalla", "dos", "das", "du", "des",
        "la", "le", "las", "los", "les", "van", "von", "vom", "vander", "zu", "zum", "zur", "der", "den", "ten", "ter",
        "te", "op", "mac", "mc", "nic", "ní", "ó", "uí", "ap", "ben", "bin", "bint", "ibn", "abu", "abd", "al", "el",
        "san", "santa", "saint", "sainte", "st", "st.", "ste", "ste.",
    ]

    /// Particles that, in lower case, stand behind the given names.
    private static let lowerParticles: Set<Substring> = [
        "de", "del", "della", "delle", "dello", "degli", "dei", "de'", "de’", "di", "da", "dal", "dalla", "do", "dos",
        "das", "e", "la", "las", "los", "van", "von", "vom", "zu", "zum", "zur", "und", "auf", "aus", "an", "am", "im",
        "in", "der", "den", "dem", "het", "ten", "ter", "te", "tot", "op", "'t", "’t", "af", "av",
    ]

    /// French articles and contractions, which belong to the family name unless a particle stands before them.
    private static let lowerArticles: Set<Substring> = ["le", "la", "les", "du", "des"]

    private static func isSuffix(_ text: Substring) -> Bool { suffixes.contains(text.lowercased()) }

    private static let suffixes: Set = [
        "jr", "jr.", "jun.", "sr", "sr.", "sen.", "ii", "iii", "iv", "phd", "ph.d.", "md", "m.d.", "esq", "esq.",
    ]

    /// Returns true if the words are hardly those of one person's name: there is a number or an "and" (except in
    /// "von und zu"), a word that names an institution, or an article at the beginning.
    private static func isOrganisation(_ words: ArraySlice<Substring>) -> Bool {
        if words.first == "The" { return true }
        return words.contains { word in
            word.utf8.contains {
                0x30...0x39 ~= $0 || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "(")
            }
                || institutions.contains(word.lowercased()) && !(word == "und" && words.contains("zu"))
        }
    }

    private static let institutions: Set = [
        "and", "und", "et", "of", "for", "für", "pour", "inc", "inc.", "ltd", "ltd.", "llc", "co.", "corp.", "gmbh",
        "e.v.", "press", "publishing", "publishers", "publications", "books", "editors", "editions", "éditions",
        "verlag", "redaktion", "team", "staff", "group", "gruppe", "groupe", "company", "corporation", "institute",
        "institut", "university", "universität", "université", "college", "school", "academy", "akademie", "académie",
        "society", "gesellschaft", "société", "association", "verein", "foundation", "stiftung", "fondation",
        "museum", "musée", "library", "bibliothek", "committee", "council", "commission", "ministry", "ministerium",
        "department", "office", "bureau", "international", "national", "magazine", "news", "studio",
        "studios", "entertainment", "anonymous", "various", "authors",
    ]

    /// The scripts in which the family name comes first: Han, kana and Hangul.
    private static func isEastAsian(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11FF, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3041...0x30FF, 0x3130...0x318F, 0x31F0...0x31FF,
            0x3400...0x9FFF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

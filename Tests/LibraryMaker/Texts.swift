import TestTools

/// Generates the texts of a book.
struct Texts {
    var dice: SplitMix

    /// Returns a proper name of two to four syllables.
    mutating func properName() -> String {
        var name = ""
        for _ in 0..<(2 + dice.below(3)) { name += dice.pick(syllables) }
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Returns a rating in quarter stars; `nil` for some of the books that were read, and for all others.
    mutating func rating(_ status: String) -> Int? {
        status == "read" && !dice.once(in: 4) ? 4 + dice.below(17) : nil
    }

    mutating func title(in tongue: Tongue) -> String {
        var title = ""
        for character in dice.pick(tongue.patterns) {
            switch character {
            case "#": title += tongue.nouns[dice.skewed(tongue.nouns.count)]
            case "%": title += dice.pick(tongue.adjectives)
            case "@": title += properName()
            default: title.append(character)
            }
        }
        // As on covers, the words of the pattern are unchanged, and the first letter is a capital letter.
        return title.prefix(1).uppercased() + title.dropFirst()
    }

    /// Returns a name such as "Anna Ventalrin", sometimes with a second family name.
    mutating func person() -> String {
        dice.pick(givenNames) + " " + properName() + (dice.once(in: 12) ? "-" + properName() : "")
    }

    /// Returns a note or a quote of `words` words.
    mutating func annotation(words count: Int) -> String {
        var text = ""
        for number in 0..<count {
            if number > 0 { text += dice.once(in: 12) ? ". " : " " }
            text += dice.once(in: 15) ? properName() : remarkWords[dice.skewed(remarkWords.count)]
        }
        return text + "."
    }
}

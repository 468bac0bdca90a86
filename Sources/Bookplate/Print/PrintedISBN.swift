/// An ISBN that is printed as text and was read from a picture: as good as one that a person has typed, and no better. Its check
/// digit is right; one wrong reading in ten or eleven is so by chance.
public struct PrintedISBN: Sendable, Equatable {
    public let isbn: ISBN
    /// The number as it is printed, with its own hyphens or spaces, such as `0-14-044926-2`; an SBN of nine digits has got the 0 in
    /// front that makes it an ISBN.
    public let text: String
    /// Whether a letter was taken for the digit that looks like it.
    public let isCorrected: Bool

    public init(isbn: ISBN, text: String, isCorrected: Bool = false) {
        (self.isbn, self.text, self.isCorrected) = (isbn, text, isCorrected)
    }

    /// Finds the numbers of books in what was read of a picture.
    ///
    /// - A number behind the word ISBN or SBN counts when its check digit is right; letters in it that look like digits count as these
    ///   where that makes exactly one ISBN.
    /// - More numbers behind it count when nothing stands between but what such lists have (`(hardback)`, `pbk.`, `and`).
    /// - Without the word only thirteen digits count that begin with 978 or 979 and lie in a range that is given out. Ten digits do
    ///   not: 978 is also where telephone numbers of Massachusetts begin.
    ///
    /// - Parameter text: lines as they are printed; only the first 100,000 characters are looked at.
    /// - Returns: each ISBN once, in the order of the text; empty when there is none.
    public static func all(in text: String) -> [PrintedISBN] {
        let print = Array(text.prefix(100_000))
        var found: [PrintedISBN] = []
        var place = 0
        // A number is looked for where the one before ends, so that none of its digits counts twice.
        while place < print.count {
            let numbers: (found: [PrintedISBN], end: Int)
            if let label = PrintedLabel(in: print, at: place) {
                numbers = named(by: label, in: print)
            } else if let (number, end) = unnamed(in: print, at: place) {
                numbers = ([number], end)
            } else {
                place += 1
                continue
            }
            for number in numbers.found where !found.contains(where: { $0.isbn == number.isbn }) {
                found.append(number)
            }
            place = max(place + 1, numbers.end)
        }
        return found
    }

    /// The numbers behind the word, and where the last of them ends.
    private static func named(by label: PrintedLabel, in print: [Character]) -> (found: [PrintedISBN], end: Int) {
        var (found, end) = ([PrintedISBN](), label.end)
        for form in label.forms {
            guard let start = PrintedLabel.start(in: print, behind: form),
                let number = PrintedNumber.first(
                    of: label.lengths, in: print, at: start, isNamed: true)
            else { continue }
            found.append(number.printed)
            end = number.end
            break
        }
        guard !found.isEmpty else { return ([], label.end) }
        while let start = PrintedLabel.start(in: print, behind: end),
            let number = PrintedNumber.first(of: [13, 10], in: print, at: start, isNamed: false)
        {
            found.append(number.printed)
            end = number.end
        }
        return (found, end)
    }

    /// Thirteen digits that say themselves what they are.
    private static func unnamed(in print: [Character], at place: Int) -> (PrintedISBN, end: Int)? {
        guard print[place] == "9", PrintedNumber.mayBegin(in: print, at: place),
            let number = PrintedNumber.first(of: [13], in: print, at: place, isNamed: false)
        else { return nil }
        return (number.printed, number.end)
    }
}

import Bookplate

extension Texts {
    /// A number with its thousands apart: 12,345 in English, 12.345 in German, 12 345 in French.
    func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        guard digits.count > 3 else { return String(number) }
        let separator =
            switch language {
            case .english: ","
            case .german: "."
            case .french: "\u{202F}"
            }
        var groups: [Substring] = []
        var rest = digits[...]
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + groups.joined(separator: separator)
    }

    /// A number with at most one digit behind the point: 12, 12.5.
    func tenths(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "–" }
        let tenths = Int((number * 10).rounded())
        let whole = grouped(tenths / 10)
        return tenths % 10 == 0 ? whole : whole + (language == .english ? "." : ",") + String(abs(tenths % 10))
    }

    /// The form for a number with tenths, `{n}` filled in: "1 page an hour", "1.5 pages an hour".
    func several(_ key: String, _ number: Double) -> String {
        self(key, isOne: isOne((number * 10).rounded() / 10), ["n": tenths(number)])
    }

    /// The form for so many, `{n}` filled in with its thousands apart.
    func several(_ key: String, _ number: Int) -> String { self(key, count: number, ["n": grouped(number)]) }

    /// "2 h 05 min", "34 min"
    func duration(minutes: Int) -> String {
        let (hours, rest) = (minutes / 60, minutes % 60)
        guard hours > 0 else { return self("stats.minutes", ["n": String(minutes)]) }
        if hours >= 100 || rest == 0 { return self("stats.hours", ["n": grouped(hours)]) }
        return self("stats.hoursMinutes", ["h": grouped(hours), "m": (rest < 10 ? "0" : "") + String(rest)])
    }

    /// The parts of a list in one text: "M,T,W".
    func list(_ key: String) -> [String] { self(key).split(separator: ",").map(String.init) }

    /// "★★★½", for those who see; with words beside it for all others.
    func stars(_ rating: Double) -> String {
        let quarters = Int((rating * 4).rounded())
        return String(repeating: "★", count: min(5, quarters / 4)) + ["", "¼", "½", "¾"][max(0, quarters % 4)]
    }
}

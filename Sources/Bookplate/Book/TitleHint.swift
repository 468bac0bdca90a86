/// Something in the title of a source's record that looks wrong. Only the person who has the book can say if it is.
public struct TitleHint: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// The title ends with a series in brackets, such as "Slocum and the Gunmen (Slocum Series #47)".
        case series
        /// The title ends with the subtitle.
        case repeatedSubtitle
        /// The title has only capital letters.
        case capitals
    }

    public let kind: Kind
    /// The title as it probably is; `nil` if only a person can write it.
    public var title: String?
    public var series: String?
    public var seriesNumber: String?

    /// The change that a person can accept; `nil` if there is none.
    public var edit: MetadataEdit? {
        guard let title else { return nil }
        var edit = MetadataEdit(title: title)
        (edit.series, edit.seriesNumber) = (series, seriesNumber)
        return edit
    }

    /// The hint as a sentence for people.
    public var sentence: String {
        switch kind {
        case .series:
            "The title seems to contain a series: \(series ?? "")" + (seriesNumber.map { ", number \($0)" } ?? "") + "."
        case .repeatedSubtitle: "The title seems to contain the subtitle."
        case .capitals: "The title is in capital letters."
        }
    }
}

extension Metadata {
    /// A hint about the title; `nil` if nothing looks wrong, or a person has entered the title.
    public var titleHint: TitleHint? {
        guard let title, sources[.title] != .person else { return nil }
        if let hint = seriesHint(title) { return hint }
        let ending = ": " + (subtitle ?? "")
        if ending.count > 2, title.count > ending.count, title.suffix(ending.count).lowercased() == ending.lowercased()
        {
            return TitleHint(kind: .repeatedSubtitle, title: String(title.dropLast(ending.count)))
        }
        let letters = title.filter { $0.isUppercase || $0.isLowercase }
        return letters.count >= 8 && letters.allSatisfy(\.isUppercase) ? TitleHint(kind: .capitals) : nil
    }

    private func seriesHint(_ title: String) -> TitleHint? {
        guard title.utf8.count <= TextLimit.title, title.hasSuffix(")"), let bracket = title.lastIndex(of: "(") else {
            return nil
        }
        let rest = String(title[..<bracket]).cleaned
        let inner = String(title[title.index(after: bracket)...].dropLast()).cleaned
        let numbered = /(.+?),? +(?:#|[Bb]ook +|[Vv]ol\.? +|[Vv]olume +|[Nn]o\.? +)(\d{1,4})/
        var (name, number): (String?, String?) = (inner.lowercased().hasSuffix(" series") ? inner : nil, nil)
        if let match = inner.wholeMatch(of: numbered) { (name, number) = (String(match.1), String(match.2)) }
        guard let name, !rest.isEmpty, name.contains(where: \.isLetter) else { return nil }
        // If the record names another series, only a person can say which is right.
        let isKnown = series.map { $0.lowercased() == name.lowercased() } ?? true
        return TitleHint(
            kind: .series, title: isKnown ? rest : nil, series: name,
            seriesNumber: number ?? (isKnown ? seriesNumber : nil))
    }
}

/// Parts of a whole, each with its number and its share: a table with bars in it.
struct Shares: Sendable, Equatable {
    struct Row: Sendable, Equatable {
        var label: String
        var count: Int
        /// 0 to 1.
        var share: Double
    }

    let rows: [Row]

    /// - Parameters:
    ///   - parts: in the order in which they are shown; empty ones are left out.
    ///   - most: how many rows at the most; what is left is one more, called `rest`.
    init(_ parts: [(label: String, count: Int)], most: Int = 8, rest: String) {
        var parts = parts.filter { $0.count > 0 }
        if parts.count > most + 1 {
            parts = parts[..<most] + [(rest, parts[most...].reduce(0) { $0 + $1.count })]
        }
        let whole = parts.reduce(0) { $0 + $1.count }
        rows = parts.map { Row(label: $0.label, count: $0.count, share: Double($0.count) / Double(whole)) }
    }

    /// Whole percents; less than one, but not nothing, is told as such.
    static func percent(_ share: Double) -> String {
        let whole = Int((share * 100).rounded())
        return whole == 0 && share > 0 ? "< 1" : String(whole)
    }

    func view(title: String, number: (Int) -> String) -> View {
        [
            "sharesTitle": title,
            "parts": rows.map { row -> View in
                [
                    "label": row.label, "count": number(row.count), "percent": Self.percent(row.share),
                    "part": Chart.unit(max(0.5, row.share * 100)),
                ]
            },
        ]
    }
}

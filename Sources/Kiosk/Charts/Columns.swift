/// A chart of upright bars: one value each, in order.
struct Columns: Sendable {
    struct Column: Sendable {
        /// Below the bar, where there is room; `nil` for never.
        var label: String?
        var value: Int
        /// What the bar stands for: "November 2026: 412 pages".
        var words: String
        /// Its row of the table.
        var cells: [String]
    }

    var title: String
    var columns: [Column]
    /// Heads of the table.
    var heads: [String]
    /// How a number is written.
    var number: @Sendable (Int) -> String

    private static let (top, base, height) = (18.0, 166.0, 190.0)
    private static let gap = 4.0

    /// Bars grow with the values; a bar of any value can be seen. Labels are left out evenly where they would touch, and values
    /// stand over the bars as long as all of them fit.
    var chart: Chart {
        let axis = Axis(upTo: columns.map(\.value).max() ?? 0)
        let scale = axis.ticks.map(number)
        let left = (scale.map(Chart.width(of:)).max() ?? 0) + Self.gap
        let slot = (Chart.width - left) / Double(max(1, columns.count))
        let bar = min(30, max(0.8, slot * 0.74))
        func y(_ value: Int) -> Double { Self.base - axis.fraction(value) * (Self.base - Self.top) }
        func middle(_ index: Int) -> Double { left + slot * (Double(index) + 0.5) }

        var chart = Chart(
            title: title, height: Self.height, table: Chart.Table(heads: heads, rows: columns.map(\.cells)))
        for (tick, text) in zip(axis.ticks, scale) {
            chart.lines.append(Chart.Line(from: left, y: y(tick)))
            chart.labels.append(Chart.Label(x: left - Self.gap, y: y(tick) + 4, text: text, anchor: .end))
        }
        for (index, column) in columns.enumerated() where column.value > 0 {
            let height = max(1.5, Self.base - y(column.value))
            chart.marks.append(
                Chart.Mark(
                    x: middle(index) - bar / 2, y: Self.base - height, width: bar, height: height, style: "bar",
                    words: column.words))
        }
        let values = columns.map { number($0.value) }
        if values.allSatisfy({ Chart.width(of: $0) <= slot }) {
            for (index, value) in values.enumerated() where columns[index].value > 0 {
                chart.labels.append(Chart.Label(x: middle(index), y: y(columns[index].value) - 4, text: value))
            }
        }
        for index in labelled(slot) {
            guard let text = columns[index].label else { continue }
            chart.labels.append(Chart.Label(x: middle(index), y: Self.height - 8, text: text))
        }
        return chart
    }

    /// The columns whose labels are shown: every one, every second, fifth … of those that have one.
    private func labelled(_ slot: Double) -> [Int] {
        let all = columns.indices.filter { columns[$0].label != nil }
        guard all.count > 1 else { return all }
        let room = slot * Double(all[1] - all[0])
        let needed = (columns.compactMap(\.label).map(Chart.width(of:)).max() ?? 0) + 5
        let every = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50].first { Double($0) * room >= needed } ?? all.count
        return all.enumerated().filter { $0.offset.isMultiple(of: every) }.map(\.element)
    }
}

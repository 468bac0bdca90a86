import Bookplate

/// The review of a year as an SVG picture to share. It loads nothing, and has no covers, because it may be shown
/// without this service. Texts are cut by estimating their widths, because their fonts depend on the device.
struct YearPicture: Sendable {
    let review: YearReview
    /// The reader's name; `nil` to leave it out.
    let name: String?
    let texts: Texts

    static let (width, height) = (1080.0, 1350.0)
    private static let (left, right) = (104.0, 1000.0)
    private static let (paper, ink, faint, line, accent, star) = (
        "#faf7f2", "#1f1b16", "#6a6055", "#e0d8cc", "#1f6f54", "#9a5b00"
    )
    private static let serif =
        "'Iowan Old Style','Palatino Linotype',Palatino,'Book Antiqua',Georgia,'DejaVu Serif',serif"
    private static let sans = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"

    var svg: String {
        var drawing = Drawing()
        drawing.rectangle(0, 0, Self.width, Self.height, Self.paper)
        // The spine of a book.
        drawing.rectangle(0, 0, 36, Self.height, Self.accent)
        drawing.rectangle(46, 0, 3, Self.height, Self.accent)
        drawing.text(String(review.year), Self.left, 200, 150, Self.serif, weight: 600)
        drawing.text(heading, Self.left, 268, 46, Self.serif, colour: Self.faint, room: Self.right - Self.left)
        drawTiles(&drawing)
        drawMonths(&drawing, bottom: 730)
        var top = 828.0
        drawFavourites(&drawing, &top)
        drawFacts(&drawing, top: max(top, 1090))
        drawing.text("Bookplate", Self.right, 1308, 26, Self.serif, colour: Self.faint, anchor: "end")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(Self.width))" height="\(Int(Self.height))" \
            viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img"><title>\
            \(Drawing.escaped("\(review.year) · \(heading)"))</title>
            \(drawing.svg)</svg>

            """
    }

    private var heading: String {
        name.map { texts("year.pictureOf", ["name": $0]) } ?? texts("year.picture")
    }

    private func drawTiles(_ drawing: inout Drawing) {
        let tiles = YearFacts(review: review, texts: texts).tiles.prefix(3)
        let slot = (Self.right - Self.left) / 3
        for (index, tile) in tiles.enumerated() {
            let x = Self.left + Double(index) * slot
            // A long number is smaller, and not cut. Bold digits are a fifth wider than the estimate.
            let size = min(84, 84 * (slot - 16) / (1.2 * Drawing.width(of: tile.number, 84)))
            drawing.text(tile.number, x, 400, size, Self.serif, weight: 600)
            drawing.text(tile.what, x, 446, 30, Self.sans, colour: Self.faint, room: slot - 16)
        }
    }

    private func drawMonths(_ drawing: inout Drawing, bottom: Double) {
        let counts = review.counts.months.map(\.books)
        guard let most = counts.max(), most > 0 else { return }
        let names = texts.list("stats.months")
        let slot = (Self.right - Self.left) / 12
        for (month, count) in counts.enumerated() {
            let (x, height) = (Self.left + Double(month) * slot, 170 * Double(count) / Double(most))
            if count > 0 {
                drawing.rectangle(x, bottom - height, slot - 14, height, Self.accent, radius: 6)
                drawing.text(
                    texts.grouped(count), x + (slot - 14) / 2, bottom - height - 10, 26, Self.sans, anchor: "middle")
            }
            let name = names.indices.contains(month) ? names[month] : ""
            drawing.text(
                name, x + (slot - 14) / 2, bottom + 34, 24, Self.sans, colour: Self.faint, anchor: "middle",
                room: slot - 4)
        }
        drawing.rectangle(Self.left, bottom, Self.right - Self.left - 14, 2, Self.line)
    }

    private func drawFavourites(_ drawing: inout Drawing, _ top: inout Double) {
        let favourites = review.favourites.prefix(4)
        // Without ratings, the picture shows the books with which the year began and ended.
        let books = favourites.isEmpty ? [review.first, review.last].compactMap(\.self)[...] : favourites
        guard !books.isEmpty else { return }
        drawing.text(
            texts(favourites.isEmpty ? "year.firstAndLast" : "year.favourites"), Self.left, top, 30, Self.sans,
            colour: Self.faint)
        for book in books {
            top += 58
            let stars = favourites.isEmpty ? "" : book.rating.map(texts.stars) ?? ""
            let room = Self.right - Self.left - (stars.isEmpty ? 0 : 190)
            let title = texts.title(book.book.title, book.book.isbn)
            let authors = book.book.authors.first.map { " · \($0.cleanedLine)" } ?? ""
            let size = 38.0
            // The author is left out before the title is cut.
            let whole = Drawing.width(of: title + authors, size) <= room ? title + authors : title
            drawing.text(whole, Self.left, top, size, Self.serif, room: room)
            drawing.text(stars, Self.right, top, 32, Self.sans, colour: Self.star, anchor: "end")
        }
        top += 60
    }

    private func drawFacts(_ drawing: inout Drawing, top: Double) {
        let author = review.counts.authors.first.flatMap { $0.count > 1 ? $0 : nil }
        let facts: [(name: String, value: String)] = [
            author.map { (texts("year.mostRead"), "\($0.name.cleanedLine) · \(texts("stats.nBooks", n: $0.count))") },
            review.longest.map { book in
                (
                    "\(texts("year.longest")) · \(texts("stats.nPages", n: book.pageCount ?? 0))",
                    texts.title(book.book.title, book.book.isbn)
                )
            },
            review.streak > 1 ? (texts("stats.fact.longest"), texts("stats.nDays", n: review.streak)) : nil,
            review.challenge.map {
                (
                    texts("year.goal"),
                    texts(
                        "stats.ofBooks", count: $0.goal,
                        ["done": texts.grouped($0.done), "goal": texts.grouped($0.goal)])
                )
            },
        ].compactMap(\.self)
        let slot = (Self.right - Self.left) / 2
        for (index, fact) in facts.enumerated() {
            let x = Self.left + Double(index % 2) * slot
            let y = top + Double(index / 2) * 92
            drawing.text(fact.name, x, y, 26, Self.sans, colour: Self.faint, room: slot - 24)
            drawing.text(fact.value, x, y + 40, 32, Self.serif, room: slot - 24)
        }
    }

    /// The elements of the picture. Styles are attributes, because the service's policy forbids style sheets in
    /// documents.
    private struct Drawing {
        private(set) var svg = ""

        mutating func rectangle(
            _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String, radius: Double = 0
        ) {
            svg += """
                <rect x="\(Chart.unit(x))" y="\(Chart.unit(y))" width="\(Chart.unit(width))" \
                height="\(Chart.unit(height))" rx="\(Chart.unit(radius))" fill="\(colour)"/>

                """
        }

        /// - Parameter room: the width to which the text is cut; `nil` for a text that is always short enough.
        mutating func text(
            _ text: String, _ x: Double, _ y: Double, _ size: Double, _ font: String, weight: Int = 400,
            colour: String = YearPicture.ink, anchor: String = "start", room: Double? = nil
        ) {
            guard !text.isEmpty else { return }
            let shown = room.map { Self.cut(text, size, to: $0) } ?? text
            svg += """
                <text x="\(Chart.unit(x))" y="\(Chart.unit(y))" font-size="\(Chart.unit(size))" font-family="\(font)" \
                font-weight="\(weight)" fill="\(colour)" text-anchor="\(anchor)">\(Self.escaped(shown))</text>

                """
        }

        static func width(of text: String, _ size: Double) -> Double {
            text.unicodeScalars.reduce(0) { width, scalar in
                let part =
                    switch scalar.value {
                    case 0x1100...0x11FF, 0x2E80...0xD7FF, 0xF900...0xFAFF, 0xFF00...0xFFEF, 0x1F000...: 1.0
                    case 0x41...0x5A: 0.72
                    default: 0.55
                    }
                return width + part * size
            }
        }

        private static func cut(_ text: String, _ size: Double, to room: Double) -> String {
            guard width(of: text, size) > room else { return text }
            var text = text
            while !text.isEmpty, width(of: text + "…", size) > room { text.removeLast() }
            return text.trimmingSuffix { $0.isWhitespace || ",·:".contains($0) } + "…"
        }

        /// Returns the text for XML, without the characters that XML does not have (XML 1.0, 2.2).
        static func escaped(_ text: String) -> String {
            let allowed = text.unicodeScalars.filter { scalar in
                scalar.value >= 0x20 && scalar.value & 0xFFFE != 0xFFFE && !(0x7F...0x9F).contains(scalar.value)
            }
            return HTMLEscaping().escapeText(String(String.UnicodeScalarView(allowed)))
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return String(rest)
    }
}

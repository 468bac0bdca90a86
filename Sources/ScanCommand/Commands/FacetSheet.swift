import Bookplate

/// Prints how many books each value of each filter would give.
struct FacetSheet {
    let facets: BookFacets

    func show() {
        let rows: [(String, [(String, Int)])] = [
            ("Status", Copy.Status.allCases.map { ($0.displayName, facets.statuses[$0] ?? 0) }),
            ("Rating", RatingBand.all.map { ($0 == .unrated ? "unrated" : "★ \($0.text)", facets.ratings[$0] ?? 0) }),
            ("", [("owned", facets.owned), ("wishlist", facets.wishlist), ("favourites", facets.favourites)]),
            ("Shelf", facets.shelves.map { ($0.name, $0.count) }), ("Tag", facets.tags.map { ($0.name, $0.count) }),
            ("Language", facets.languages.map { ($0.name, $0.count) }),
            ("Author", facets.authors.map { ($0.name, $0.count) }),
        ]
        for (label, counts) in rows {
            let shown = counts.filter { $0.1 > 0 }.map { "\($0.0.oneLine) \($0.1)" }
            guard !shown.isEmpty else { continue }
            Output.shared.line("\(Output.shared.style.faint(label.padded(10))) \(shown.joined(separator: " · "))")
        }
    }
}

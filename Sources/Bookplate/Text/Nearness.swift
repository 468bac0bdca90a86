extension String {
    /// Returns the names that a person may have meant with this text, nearest first, for a message that suggests them.
    ///
    /// Case is ignored. A name is near if it contains this text, or if it differs from this text in at most a third of
    /// the letters, or in two letters if the text is short.
    public func nearest(among names: [String], limit: Int = 5) -> [String] {
        let words = String(prefix(64)).lowercased()
        // Unicode scalars are compared, not characters, for speed: there may be a hundred thousand names.
        let wanted = Array(words.unicodeScalars.prefix(64))
        let bound = max(2, wanted.count / 3)
        let rated = names.compactMap { name -> (distance: Int, name: String)? in
            let folded = name.lowercased()
            let other = Array(folded.unicodeScalars.prefix(64))
            if let distance = editDistance(wanted, other, atMost: bound), distance < max(wanted.count, other.count) {
                return (distance, name)
            }
            return wanted.count >= 3 && folded.contains(words) ? (bound + 1, name) : nil
        }
        return rated.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
    }
}

/// Returns the number of letters to insert, delete, change or swap with a neighbour (optimal string alignment
/// distance).
///
/// - Returns: `nil` if the number is greater than `bound`.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], atMost bound: Int) -> Int? {
    guard abs(left.count - right.count) <= bound else { return nil }
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
        var next = [row + 1]
        for column in right.indices {
            let change = last[column] + (left[row] == right[column] ? 0 : 1)
            var best = min(change, last[column + 1] + 1, next[column] + 1)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = min(best, before[column - 1] + 1)
            }
            next.append(best)
        }
        guard next.contains(where: { $0 <= bound }) else { return nil }
        (before, last) = (last, next)
    }
    return last[right.count] <= bound ? last[right.count] : nil
}

import Bookplate

/// The second stage of a build: reads the staged editions in the order of their keys, chooses one edition for each key,
/// adds the names of authors, and packs blocks.
///
/// Memory: at most 12 MiB of staged rows for each group, which take about five times as much with their blocks
/// and words, and at most four groups at once.
struct BlockAssembly: Sendable {
    /// The size of the staged rows of a group, if no single partition is larger.
    private let groupSize: Int
    /// The size of the staged rows above which a group is split, which only dumps do that were made for it.
    private var limit: Int { 3 * groupSize }

    let rows: BuildFile
    let authors: NumberedTexts
    let works: NumberedTexts
    let runs: [Staging.Run]
    let repeated: [Int64: UInt64]
    let hasWords: Bool

    init(_ staging: Staging, hasWords: Bool, groupSize: Int) {
        self.groupSize = groupSize
        (rows, authors, works) = (staging.rows, staging.authors, staging.works)
        (runs, repeated, self.hasWords) = (staging.runs, staging.repeated, hasWords)
    }

    /// The blocks of a range of keys, and what the index and the report need to know of their editions.
    struct Group: Sendable {
        var blocks: [(first: Int64, bytes: [UInt8])] = []
        /// The words of each edition, in the order of their keys.
        var words: [(key: Int64, text: String)] = []
        var ids: [Int64] = []
        var authors: Set<Int64> = []
        var isbns = 0
    }

    /// Returns the ranges of keys of all groups. They tile the keys, and depend only on the rows.
    func groups() -> [Range<Int64>] {
        var sizes = [Int](repeating: 0, count: Staging.partitions)
        for run in runs {
            var last: UInt32 = 0
            for (partition, end) in run.ends.enumerated() {
                sizes[partition] += Int(end - last)
                last = end
            }
        }
        var (groups, start, size): ([Range<Int64>], Int64, Int) = ([], 0, 0)
        for (partition, bytes) in sizes.enumerated() {
            if size > 0, size + bytes > groupSize {
                let end = Int64(partition) << Staging.partitionBits
                groups.append(start..<end)
                (start, size) = (end, 0)
            }
            size += bytes
        }
        groups.append(start..<IndexKey.end)
        return groups
    }

    func group(_ range: Range<Int64>) throws -> Group {
        var group = Group()
        try add(range, to: &group)
        return group
    }

    private func add(_ range: Range<Int64>, to group: inout Group) throws {
        var bytes: [UInt8] = []
        var staged: [StagedRow] = []
        var names: [Int64: [UInt8]?] = [:]
        let first = Int(range.lowerBound >> Staging.partitionBits)
        let last = Int((range.upperBound - 1) >> Staging.partitionBits)
        for run in runs {
            let start = first == 0 ? 0 : Int(run.ends[first - 1])
            let end = Int(run.ends[last])
            guard start < end else { continue }
            let piece = try rows.read(end - start, at: run.offset + Int64(start))
            guard piece.count == end - start else { throw DamagedBytes() }
            try piece.withUnsafeBufferPointer { piece in
                var reader = ByteReader(piece)
                while var row = try StagedRow(&reader) {
                    guard range.contains(row.key) else { continue }
                    if let highest = repeated[row.id], row.revision < highest { continue }
                    let content = piece[row.content]
                    row.content = bytes.count..<bytes.count + content.count
                    bytes += content
                    staged.append(row)
                }
            }
            // Rows of a hostile dump may all have one key, or neighbouring ones.
            if bytes.count > limit {
                try choose(&staged, &bytes, &names)
                if bytes.count > limit / 2, range.count > 1 {
                    let middle = range.lowerBound + Int64(range.count / 2)
                    try add(range.lowerBound..<middle, to: &group)
                    try add(middle..<range.upperBound, to: &group)
                    return
                }
            }
        }
        try choose(&staged, &bytes, &names)
        try bytes.withUnsafeBufferPointer { bytes in
            let editions = try staged.map { try row($0, bytes, &names, &group.authors) }
            group.blocks += EditionBlock.pack(editions, range: range)
            group.ids += staged.lazy.map(\.id)
            group.isbns += staged.count { $0.key < IndexKey.afterISBNs }
            if hasWords {
                group.words.reserveCapacity(group.words.count + editions.count)
                for edition in editions { group.words.append((edition.key, words(edition))) }
            }
        }
    }

    /// Sorts the rows by key, and keeps one for each key: of several editions the most complete one, then the one that
    /// was changed last, and then the one with the lowest number.
    private func choose(
        _ staged: inout [StagedRow], _ bytes: inout [UInt8], _ names: inout [Int64: [UInt8]?]
    ) throws {
        staged.sort { ($0.key, $0.id) < ($1.key, $1.id) }
        var chosen: [StagedRow] = []
        chosen.reserveCapacity(staged.count)
        try bytes.withUnsafeBufferPointer { bytes in
            var best: IndexRow?
            for row in staged {
                guard let last = chosen.last, last.key == row.key else {
                    chosen.append(row)
                    best = nil
                    continue
                }
                let champion = try best ?? parsed(last, bytes)
                let challenger = try parsed(row, bytes)
                let isBetter =
                    if champion.id == challenger.id {
                        (challenger.revision, challenger.modified) > (champion.revision, champion.modified)
                    } else {
                        (challenger.completeness, challenger.modified) > (champion.completeness, champion.modified)
                    }
                if isBetter { chosen[chosen.count - 1] = row }
                best = isBetter ? challenger : champion
            }
        }
        guard chosen.count < staged.count else { return }
        var kept: [UInt8] = []
        for index in chosen.indices {
            let content = bytes[chosen[index].content]
            chosen[index].content = kept.count..<kept.count + content.count
            kept += content
        }
        (staged, bytes) = (chosen, kept)
    }

    /// Reads a row, with the authors of the work if the edition has none.
    private func parsed(_ staged: StagedRow, _ bytes: UnsafeBufferPointer<UInt8>) throws -> IndexRow {
        var reader = ByteReader(UnsafeBufferPointer(rebasing: bytes[staged.content]))
        var row = try IndexRow(key: staged.key, &reader)
        if row.authors.isEmpty, row.work > 0, let authors = try works.text(row.work) {
            row.authors = try authors.withUnsafeBufferPointer { bytes throws(DamagedBytes) in
                var (reader, numbers): (ByteReader, [Int64]) = (ByteReader(bytes), [])
                while !reader.isAtEnd { numbers.append(Int64(try reader.count())) }
                return numbers
            }
        }
        return row
    }

    /// Reads a row, and adds the names of its authors.
    private func row(
        _ staged: StagedRow, _ bytes: UnsafeBufferPointer<UInt8>, _ names: inout [Int64: [UInt8]?],
        _ used: inout Set<Int64>
    ) throws -> IndexRow {
        var row = try parsed(staged, bytes)
        let author = UInt8(Contributor.Role.allCases.firstIndex(of: .author)! + 1)
        for number in row.authors {
            let name: [UInt8]?
            if let known = names[number] {
                name = known
            } else {
                name = try authors.text(number)
                names.updateValue(name, forKey: number)
            }
            guard let name else { continue }
            used.insert(number)
            row.names += name
            row.names.append(author)
        }
        // Authors whom only the text of the record names are added if no other author is known.
        let hasAuthors = !row.names.isEmpty
        var start = 0
        for (index, byte) in row.people.enumerated() where byte < 0x20 {
            if byte != author || !hasAuthors { row.names += row.people[start...index] }
            start = index + 1
        }
        return row
    }

    private func words(_ row: IndexRow) -> String {
        var words: [UInt8] = []
        row.names.withUnsafeBufferPointer { names in
            let subtitle = row.texts[IndexRow.Text.subtitle.rawValue]
            TitleWords.append(record: row.texts[IndexRow.Text.title.rawValue], [subtitle, names], to: &words)
        }
        return String(decoding: words, as: UTF8.self)
    }
}

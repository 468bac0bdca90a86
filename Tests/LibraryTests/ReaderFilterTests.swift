import Bookplate
import FoundationEssentials
import LibraryMaker
import Testing

@testable import Library

@Suite struct `The filters by who has read a book` {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 120, seed: 4, readers: 3)
        library = try LibraryFile.open(at: folder("library.sqlite"))
    }

    /// - Parameter reader: the row id of the reader whose list it is.
    private func copies(
        of reader: Int64 = 1, _ set: (inout BookQuery) -> Void = { _ in }
    ) async throws -> Set<ID<Copy>> {
        var query = BookQuery()
        query.limit = .max
        set(&query)
        let own = library.reading(with: ReaderAccess(reader: reader))
        let all = try await own.books(matching: query)
        // A short page counts the others.
        query.limit = 3
        let page = try await own.books(matching: query)
        #expect(all.total == all.books.count && page.total == all.total && page.books.count == min(3, all.total))
        // Every book has one status.
        let facets = try await own.facets(matching: query)
        if query.statuses.isEmpty { #expect(facets.statuses.values.reduce(0, +) == all.total) }
        return Set(all.books.map(\.id))
    }

    /// Returns the books that each reader has read.
    private func readByEach() async throws -> [Set<ID<Copy>>] {
        var read: [Set<ID<Copy>>] = []
        for row in [1, 2, 3] as [Int64] { read.append(try await copies(of: row) { $0.statuses = [.read] }) }
        return read
    }

    @Test(arguments: ["", "the"], [false, true])
    func `select what fits, whoever looks, together with other filters`(text: String, isNobody: Bool) async throws {
        let readers = try await library.readers()
        let read = try await readByEach()
        let all = try await copies { $0.text = text }
        let favourites = try await copies { $0.isFavourite = true }
        let byNobody = all.subtracting(read[0].union(read[1]).union(read[2]))
        #expect(byNobody.count > 3 && byNobody.count < all.count)
        // Each digit is one reader: not asked for, has read, or has not read.
        for number in 0..<27 {
            let choices = [number % 3, number / 3 % 3, number / 9]
            var wanted = isNobody ? byNobody : all
            var (readBy, notReadBy): ([ID<Reader>], [ID<Reader>]) = ([], [])
            for (index, choice) in choices.enumerated() {
                if choice == 1 {
                    readBy.append(readers[index].id)
                    wanted.formIntersection(read[index])
                } else if choice == 2 {
                    notReadBy.append(readers[index].id)
                    wanted.subtract(read[index])
                }
            }
            var query = BookQuery()
            (query.readBy, query.notReadBy, query.readByNobody) = (readBy, notReadBy, isNobody)
            #expect(query.hasFilters == (number > 0 || isNobody))
            (query.text, query.limit) = (text, .max)
            let found = try await copies(of: Int64(1 + number % 3)) { $0 = query }
            #expect(found == wanted, "\(choices)")
            query.isFavourite = true
            let both = try await copies { $0 = query }
            #expect(both == wanted.intersection(favourites), "\(choices)")
        }
    }

    @Test func `leave out readers in the trash, and readers that there are not`() async throws {
        let (read, all) = (try await readByEach(), try await copies())
        let third = try await library.readers()[2].id
        #expect(try await copies { $0.readBy = [third] } == read[2] && !read[2].isEmpty)
        let deleted = try await library.deleteReader(third, at: noon)
        for id in [third, ID()] {
            #expect(try await copies { $0.readBy = [id] }.isEmpty)
            #expect(try await copies { $0.notReadBy = [id] } == all)
        }
        #expect(try await copies { $0.readByNobody = true } == all.subtracting(read[0]).subtracting(read[1]))
        _ = try await library.undo(try #require(deleted.change), at: noon)
        #expect(try await copies { $0.readBy = [third] } == read[2])
    }
}

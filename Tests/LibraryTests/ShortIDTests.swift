import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct `Short ids` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    @Test(arguments: [
        (["0000-1abcdef", "0000-2abcdff"], ["abcdef", "abcdff"]),
        (["0000-1abcdef", "0000-2abcdef"], ["1abcdef", "2abcdef"]),
        (["000a-11abcdef", "000b-11abcdef", "0000-2abcdef"], ["a-11abcdef", "b-11abcdef", "2abcdef"]),
        (["abc", "xabc"], ["abc", "xabc"]), ([], []),
    ])
    func `are the shortest ends that no other id has, of at least six characters`(ids: [String], short: [String])
        async throws
    {
        let found = try await library.shortIDs(of: ids, in: .copy)
        #expect(ids.map { found[$0] } == short)
        #expect(try await library.shortIDs(of: ids, in: .change, atLeast: 11).values.allSatisfy { $0.count <= 11 })
    }

    @Test func `differ from those of all books, in the trash too`() async throws {
        let book = try await library.save(dune, record("Dune"))
        #expect(try await library.shortIDs(of: [book.id.rawValue], in: .copy).values.first?.count == 6)
        // An id that ends like the book's.
        let alike = "x" + book.id.rawValue.suffix(9)
        #expect(try await library.shortIDs(of: [alike], in: .copy)[alike]?.count == 10)
        _ = try await library.trash([book.id], at: noon)
        #expect(try await library.shortIDs(of: [alike], in: .copy)[alike]?.count == 10)
        #expect(try await library.shortIDs(of: [alike], in: .note)[alike]?.count == 6)
    }
}

import Bookplate

extension Search {
    /// Returns true if the library has no books outside the trash. Home and Library then offer ways to add the first.
    func isEmpty() async throws -> Bool {
        var query = BookQuery()
        (query.limit, query.countLimit) = (1, 1)
        return try await books(matching: query).hits.isEmpty
    }
}

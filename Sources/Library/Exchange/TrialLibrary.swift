import Bookplate
import GRDB

extension LibraryFile {
    /// A copy of the library that is gone with its last reference: whatever is done to it is done to nothing else. A dry run takes
    /// place in one, so that it tells exactly what the import would do, and holds nobody up.
    ///
    /// Lives in a temporary file that SQLite itself makes and removes; needs as much room there as the library has.
    public func trial() async throws -> LibraryFile {
        do {
            // The empty name is SQLite's own temporary database. Source: https://www.sqlite.org/inmemorydb.html
            let copy = try DatabaseQueue(path: "", configuration: Self.configuration())
            try database.backup(to: copy)
            return LibraryFile(path: nil, station: station, database: copy, lock: nil, clock: clock, zone: zone)
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}

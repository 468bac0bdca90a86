import FaultServer
import Foundation
import TestTools

typealias ScanProcess = TestTools.ScanProcess

/// Runs the body with a program whose home folder is deleted afterwards.
func withScan<Result>(
    _ make: () throws -> ScanProcess = { try ScanProcess.offline() }, _ body: (ScanProcess) throws -> Result
)
    throws -> Result
{
    let scan = try make()
    defer { try? scan.remove() }
    return try body(scan)
}

extension ScanProcess {
    /// Lets the program ask this server as all online sources.
    mutating func ask(_ source: FaultServer) {
        environment["BOOKPLATE_OFFLINE"] = nil
        for name in ["OPENLIBRARY", "GOOGLEBOOKS", "COVERS"] { environment["BOOKPLATE_\(name)_URL"] = source.address }
    }
}

extension FaultServer {
    /// Returns sources that answer, and know no book.
    static func withoutBooks() throws -> FaultServer {
        let server = try FaultServer()
        server.on("/api/books", .json("{}"))
        server.on("/books/v1/volumes", .json(#"{"kind":"books#volumes","totalItems":0}"#))
        return server
    }
}

/// True if a program is in the path.
func isThere(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        access("\($0)/\(program)", X_OK) == 0
    }
}

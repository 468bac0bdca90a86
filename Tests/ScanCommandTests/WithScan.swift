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

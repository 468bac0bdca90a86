import Foundation
import Testing

@Suite struct `A book that is done while its session runs` {
    @Test(arguments: [["finish", "dune"], ["drop", "dune"], ["reset", "dune"], ["hold", "dune"]])
    func `says so, and ends nothing silently`(act: [String]) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert", "--pages", "382")
            try scan.run("session", "start", "dune")
            let done = try scan.run(["reading"] + act + ["--json"])
            #expect(done.status == 0 && done.lines.count == 1)
            #expect(done.err.contains("still running: scan session stop"), "\(done.err)")
            #expect(try scan.run("session", "stop", "--force").status == 0)
            #expect(!(try scan.run("reading", "start", "dune").err.contains("still running")))
        }
    }
}

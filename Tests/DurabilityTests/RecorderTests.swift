import Foundation
import TestTools
import Testing

@Suite struct `The recorder` {
    /// If a call escaped the recorder, the files that are made from the record would differ.
    @Test(.timeLimit(.minutes(10)))
    func `misses no call that changes a file: replayed, the record gives what the program left, byte for byte`()
        async throws
    {
        let operations = try Operations()
        let replayed = await forEach(operations.all) { operation, _ in
            let run = try await RecordedRun(operation)
            for model in Disk.Model.allCases {
                var disk = Disk(model, run.start)
                for call in run.recording.calls { try disk.apply(call) }
                let tree = disk.wholeState
                #expect(tree.folders == run.end.folders, "\(operation.name)")
                #expect(Set(tree.files.keys) == Set(run.end.files.keys), "\(operation.name)")
                for (name, bytes) in run.end.files {
                    #expect(tree.files[name] == bytes, "\(operation.name): \(name)")
                }
            }
            return operation.name
        }
        try operations.end()
        #expect(replayed == operations.all.map(\.name))
    }

    /// OpenSSL's would free what libcurl's thread may still use. In 2 of 600 runs, the program crashed at its end.
    @Test(arguments: [["isbn", "9780140268867"], ["isbn", "9780140268860"], ["hub", "status"]])
    func `sees that the program ends without the exit handlers of its libraries`(_ arguments: [String]) async throws {
        let recording = try await withMachine(Tree()) { machine in
            try Recorder.shared.get().run(machine.scan, arguments, disk: machine.disk)
        }
        #expect([0, 3].contains(recording.ending.status))
        #expect(!recording.ranExitHandlers)
    }
}

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
}

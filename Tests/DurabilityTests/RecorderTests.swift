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
        for operation in operations.all {
            let run = try await RecordedRun(operation)
            for model in Disk.Model.allCases {
                var disk = Disk(model, run.start)
                for call in run.recording.calls { try disk.apply(call) }
                let replayed = disk.wholeState
                #expect(replayed.folders == run.end.folders, "\(operation.name)")
                #expect(Set(replayed.files.keys) == Set(run.end.files.keys), "\(operation.name)")
                for (name, bytes) in run.end.files {
                    #expect(replayed.files[name] == bytes, "\(operation.name): \(name)")
                }
            }
        }
        try operations.end()
    }
}

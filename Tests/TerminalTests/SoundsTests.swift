import Foundation
import TestTools
import Testing

@testable import Terminal

@Suite(.timeLimit(.minutes(5))) struct `A player of sounds` {
    @Test func `that hangs and cannot be asked to end is killed, and the next sound still comes`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let player = folder.appendingPathComponent("pw-play")
        try Data("#!/bin/sh\ntrap '' TERM\nexec tail -f \"$0\"\n".utf8).write(to: player)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: player.path)
        let (bells, continuation) = AsyncStream.makeStream(of: Void.self)
        let sounds = Sounds(
            isMuted: false, environment: ["PATH": "\(folder.path):/bin:/usr/bin"], longestPlay: .seconds(1),
            ring: { continuation.yield() })
        #expect(sounds.playerPath == player.path)
        var bell = bells.makeAsyncIterator()
        sounds.play(.new)
        sounds.play(.owned)
        _ = await bell.next()
        #expect(sounds.playerPath == nil, "the bell from now on")
        sounds.play(.attention)
        _ = await bell.next()
        // A process that is killed has no command line by the time it has ended.
        try await wait(for: "the end of the player") { try !isRunning(player.path) }
    }

    private func isRunning(_ script: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
            // Processes end while they are listed.
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return String(decoding: line, as: UTF8.self).split(separator: "\0").contains { $0 == script }
        }
    }
}

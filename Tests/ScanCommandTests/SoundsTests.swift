import Foundation
import Testing

@testable import ScanCommand

@Suite(.timeLimit(.minutes(1))) struct `A player of sounds` {
    @Test func `that hangs and cannot be asked to end is killed, and the next sound still comes`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let (player, process) = (folder.appendingPathComponent("pw-play"), folder.appendingPathComponent("process"))
        try Data("#!/bin/sh\ntrap '' TERM\necho $$ >'\(process.path)'\nexec sleep 1000000\n".utf8).write(to: player)
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
        let id = try #require(pid_t(String(contentsOf: process, encoding: .utf8).trimmingCharacters(in: .newlines)))
        let status = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
        #expect(status.isEmpty, "gone, or ended and not waited for yet")
    }
}

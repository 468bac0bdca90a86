import Foundation
import Testing

@testable import ScanCommand

@Suite struct `Notifications for systemd` {
    @Test(arguments: NoticeSocket.Kind.allCases)
    func `arrive at a socket in the file system and at an abstract one`(kind: NoticeSocket.Kind) async throws {
        let socket = try NoticeSocket(kind)
        let notice = try #require(try ServiceNotice(environment: ["NOTIFY_SOCKET": socket.name]))
        try notice.ready("At http://127.0.0.1:8278/")
        try notice.status("12 books wait")
        try notice.watchdog()
        try notice.stopping("Ending")
        #expect(await socket.next() == "READY=1\nSTATUS=At http://127.0.0.1:8278/")
        #expect(await socket.next() == "STATUS=12 books wait")
        #expect(await socket.next() == "WATCHDOG=1")
        #expect(await socket.next() == "STOPPING=1\nSTATUS=Ending")
    }

    @Test func `are not sent without a socket`() throws {
        #expect(try ServiceNotice(environment: [:]) == nil)
        #expect(try ServiceNotice(environment: ["NOTIFY_SOCKET": ""]) == nil)
    }

    @Test(arguments: ["notify", "vsock:2:1234", "/" + String(repeating: "n", count: 200)])
    func `are refused for an invalid socket name`(name: String) throws {
        let error = #expect(throws: CommandError.self) { try ServiceNotice(environment: ["NOTIFY_SOCKET": name]) }
        #expect(error?.status == .configuration)
    }

    @Test(arguments: [
        (["WATCHDOG_USEC": "30000000"], Duration.seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "41"], Duration.seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], nil), (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "soon"], nil), ([:], nil),
    ])
    func `include keep-alives only for the process that is watched`(variables: [String: String], limit: Duration?)
        throws
    {
        let environment = variables.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
        #expect(try ServiceNotice(environment: environment, process: 41)?.watchdogLimit == limit)
    }

    @Test func `stay one line, whatever the text contains`() async throws {
        let socket = try NoticeSocket()
        let notice = try #require(try ServiceNotice(environment: ["NOTIFY_SOCKET": socket.name]))
        try notice.status("one\nWATCHDOG=1\u{1b}[2J")
        let received = try #require(await socket.next())
        #expect(!received.contains("\n") && received.hasPrefix("STATUS=one") && !received.contains("\u{1b}"))
    }

    @Test func `fail with the reason if the socket is gone`() throws {
        let notice = try #require(try ServiceNotice(environment: ["NOTIFY_SOCKET": "/nowhere/notify"]))
        let error = #expect(throws: ServiceNoticeError.self) { try notice.watchdog() }
        #expect(error?.description.contains("No such file") == true)
    }
}

import Bookplate
import Hub
import Lookup
import SystemCalls
import Testing

@testable import ScanCommand

@Suite struct `The exit status of an error` {
    @Test(arguments: RefusalKind.allCases) func `is a status of the program for each kind`(_ kind: RefusalKind) {
        #expect(ExitStatus(rawValue: kind.exitStatus) != nil)
    }

    private struct Row {
        let refusal: any Refusal
        let (exit, http): (Int32, Int)

        init(_ refusal: any Refusal, _ exit: Int32, _ http: Int) {
            (self.refusal, self.exit, self.http) = (refusal, exit, http)
        }
    }

    /// The errors that pages do not show; those of domain, station and library are in KioskTests.
    private static let table: [Row] = [
        Row(HubError.badAddress("x"), 64, 422), Row(HubError.away("x"), 69, 503), Row(HubError.revoked, 77, 500),
        Row(HubError.wrongCode, 77, 500), Row(HubError.throttled(seconds: 9), 69, 503),
        Row(HubError.refused("x"), 3, 422), Row(HubError.turnedAway("x"), 69, 503), Row(HubError.failed("x"), 69, 503),
        Row(HubError.notAHub("x"), 69, 503), Row(PairedHubsError.garbled(path: "/b"), 78, 500),
        Row(PairedHubsError.unreadable(FileError(path: "/b", errno: .permissionDenied)), 78, 500),
        Row(PairedHubsError.unreadable(FileError(path: "/b", errno: .ioError)), 74, 503),
        Row(PairedHubsError.unwritable(FileError(path: "/b", errno: .notDirectory)), 78, 500),
        Row(PairedHubsError.unwritable(FileError(path: "/b", errno: .noSpace)), 74, 503),
        Row(LookupConfigurationError.badAddress(what: "x", text: "y"), 78, 500),
        Row(LookupConfigurationError.plainHTTP(what: "x", text: "y"), 78, 500),
        Row(LookupConfigurationError.badKey, 78, 500), Row(LookupConfigurationError.badContact("x"), 78, 500),
        Row(OfflineIndexError.missing(path: "/b"), 66, 500), Row(OfflineIndexError.foreign(path: "/b"), 65, 500),
        Row(OfflineIndexError.newer(path: "/b"), 78, 500), Row(OfflineIndexError.older(path: "/b"), 78, 500),
        Row(OfflineIndexError.damaged(path: "/b", cause: "x"), 65, 500),
        Row(OfflineIndexError.unreadable(path: "/b", cause: "x"), 66, 500),
        Row(OfflineIndexError.brokenDump(path: "/b", cause: "x"), 66, 500),
        Row(OfflineIndexError.noEditions(paths: ["/b"]), 66, 500),
        Row(OfflineIndexError.occupied(path: "/b"), 64, 422),
        Row(OfflineIndexError.dumpInTheWay(path: "/b", dump: "/c"), 64, 422),
        Row(OfflineIndexError.cannotWrite(path: "/b", cause: "x"), 74, 503),
        Row(OfflineIndexError.alreadyBuilding(path: "/b"), 75, 503), Row(OfflineIndexError.cancelled, 74, 503),
        Row(OfflineIndexError.repeated, 64, 422), Row(OfflineIndexError.unknownLanguage("x"), 64, 422),
        Row(OfflineIndexError.kindsMissing(path: "/b", kinds: ["authors"]), 64, 422),
        Row(OfflineIndexError.notNewer(path: "/b", newest: ""), 64, 422),
        Row(OfflineIndexError.unknownCountry("x"), 64, 422),
    ]

    @Test func `is that of its row, and one sentence says what to do`() {
        for row in Self.table {
            #expect(row.refusal.kind.exitStatus == row.exit, "\(row.refusal)")
            #expect(row.refusal.kind.httpStatus == row.http, "\(row.refusal)")
            let error = CommandError(describing: row.refusal)
            #expect(error.status.rawValue == row.exit && error.description == row.refusal.description + ".")
        }
    }

    @Test func `comes with the command that helps`() {
        for (refusal, description) in [
            (InTrashRefusal(ID()), "the book is in the trash. Restore it first: run 'scan library restore'."),
            (UndoRefusal.noSuchChange, "there is nothing to undo."),
            (SessionError.notActive, "No active reading session found. To start one, run 'scan session start BOOK'."),
            (AnnotationRefusal.noSuchQuote("x"), "there is no quote \"x\". To list the quotes, run 'scan quote list'."),
            (
                LabelRefusal.none(what: "tag", name: "x", near: []),
                "there is no tag \"x\". To see all of them, run 'scan tag list'."
            ),
            (LabelRefusal.none(what: "tag", name: "x", near: ["xy"]), "there is no tag \"x\"; similar names: xy."),
            (
                LabelRefusal.taken(what: "tag", name: "a", by: "b"),
                "there is already a tag \"b\"; to combine \"a\" with it, merge the two. To do so, run 'scan tag merge \"a\" --into \"b\"'."
            ),
            (
                MergeRefusal.twoOpenReadings(title: "Dune"),
                "you are reading more than one copy of \"Dune\". Finish or cancel one of the two readings first. To do so, run 'scan reading finish' or 'scan reading reset'."
            ),
            (StationRefusal.none, "there is no such station. To list the stations, run 'scan hub stations'."),
            (
                ReadingRefusal.noReading,
                "the book is marked To Read, so it has no current reading. Start the book first, or choose an earlier reading. To start it, run 'scan reading start'."
            ),
        ] as [(any Refusal, String)] {
            #expect(CommandError(describing: refusal).description == description)
        }
    }
}

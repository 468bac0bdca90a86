import Bookplate
import Foundation
import Hummingbird
import Testing

@testable import Kiosk

private let dune = "9780441013593"

@Suite(.timeLimit(.minutes(5))) struct `The station's API` {
    @Test func `captures, saves and takes back`() async throws {
        let rig = try await StationRig()
        let events = try await rig.open("/api/events")
        try await events.read(until: "event: hello")
        let captured = try await rig.ask("POST", "/api/station/captures", #"{"text":"\#(dune)","origin":"typed"}"#)
        #expect(captured.status == 200)
        #expect(captured.text("row.isbn13") == dune && captured.text("row.standing") == "lookingUp")
        #expect(captured.text("row.hyphenated") == "978-0-441-01359-3" && captured["row.owned"] == nil)
        // The library answers first, the sources later.
        let received = try await events.read(until: #""standing":"found""#)
        #expect(received.contains("event: captured") && received.contains("event: known"))
        try await events.read(until: "event: batch")

        let id = try #require(captured.text("row.id"))
        let stood = try await rig.ask("GET", "/api/station")
        #expect(stood.text("rows.0.standing") == "found")
        #expect(stood["rows.0.ticked"] as? Bool == true)
        #expect(stood.number("counts.waiting") == 1 && stood.number("counts.ticked") == 1)
        #expect(stood.text("camera.state") == "none" && stood["offline"] as? Bool == true)

        let saved = try await rig.ask("POST", "/api/station/rows/\(id)/save", #"{"anotherCopy":false}"#)
        #expect(saved.status == 200 && saved.number("saved") == 1 && saved.text("change") != nil)
        let again = try await rig.ask("POST", "/api/station/rows/\(id)/save", #"{"anotherCopy":false}"#)
        let answered = "This book has already been saved or skipped. To reverse that, choose Undo."
        #expect(again.status == 422 && again.text("error.message") == answered)
        #expect(try await rig.ask("GET", "/api/station").text("undo.kind") == "saved")
        let other = try await rig.ask("POST", "/api/station/undo", #"{"change":"another-page"}"#)
        #expect(other.status == 422 && other.text("error.message")?.contains("There is a newer change") == true)
        let change = try #require(saved.text("change"))
        #expect(try await rig.ask("GET", "/api/station").text("undo.change") == change)
        let undone = try await rig.ask("POST", "/api/station/undo", #"{"change":"\#(change)"}"#)
        #expect(undone.number("count") == 1)
        #expect(try await rig.ask("GET", "/api/station").text("rows.0.standing") == "found")
        try await rig.stop()
    }

    @Test func `offers to separate a series from the title, and one press does so`() async throws {
        let rig = try await StationRig()
        let events = try await rig.open("/api/events")
        try await events.read(until: "event: hello")
        let body = #"{"text":"9780425073957","origin":"typed"}"#
        let id = try #require(try await rig.ask("POST", "/api/station/captures", body).text("row.id"))
        try await events.read(until: #""standing":"found""#)
        func page() async throws -> String { String(decoding: try await rig.ask("GET", "/scan").body, as: UTF8.self) }
        let card = try await page()
        #expect(card.contains("The title seems to contain a series: Slocum Series, 47."))
        let button = try #require(card.firstMatch(of: /id="card-hint" data-act="([^"]+)" data-body="([^"]+)"/)?.output)
        #expect(button.1 == "PATCH /api/station/rows/\(id)")
        let edit = String(button.2).replacing("&quot;", with: "\"")
        #expect(edit == #"{"title":"Slocum and the Gunmen","series":"Slocum Series","seriesNumber":"47"}"#)
        let edited = try await rig.ask("PATCH", "/api/station/rows/\(id)", edit)
        #expect(edited.text("row.title") == "Slocum and the Gunmen")
        #expect(try await !page().contains("card-hint"))
        let item = try #require(try await rig.another().item(ID(rawValue: id)))
        #expect(item.metadata?.series == "Slocum Series" && item.metadata?.seriesNumber == "47")
        try await rig.stop()
    }

    @Test func `skips, edits, ticks and asks again, one row or several`() async throws {
        let rig = try await StationRig()
        var ids: [String] = []
        for isbn in ["9783161484100", "9780141439587"] {
            let captured = try await rig.ask("POST", "/api/station/captures", #"{"text":"\#(isbn)"}"#)
            ids.append(try #require(captured.text("row.id")))
        }
        let row = "/api/station/rows/\(ids[0])"
        let edited = try await rig.ask("PATCH", row, #"{"title":"Logic","authors":["A. Nobody"],"pageCount":12}"#)
        #expect(edited.text("row.title") == "Logic" && edited.number("row.pageCount") == 12)
        let emptied = try await rig.ask("PATCH", row, #"{"pageCount":null}"#)
        #expect(emptied.text("row.title") == "Logic" && emptied["row.pageCount"] == nil)
        let misspelt = try await rig.ask("PATCH", row, #"{"titel":"Logic"}"#)
        #expect(misspelt.status == 400 && misspelt.text("error.code") == "unknownField")
        let unticked = try await rig.ask("POST", row + "/tick", #"{"ticked":false}"#)
        #expect(unticked["row.ticked"] as? Bool == false)
        #expect(try await rig.ask("POST", row + "/lookup", "{}").number("asked") == 1)
        let preset = try await rig.ask(
            "PUT", "/api/station/preset", #"{"shelf":"Attic","tags":["sf"],"status":"read","wishlist":true}"#)
        #expect(preset.text("shelf") == "Attic")
        #expect(try await rig.ask("GET", "/api/station").text("rows.1.preset.status") == "read")
        let skipped = try await rig.ask(
            "POST", "/api/station/rows/skip", #"{"ids":["\#(ids[0])","\#(ids[1])","no-such-row"]}"#)
        #expect(skipped.number("skipped") == 2)
        #expect(try await rig.ask("POST", "/api/station/rows/no-such-row/skip", "{}").status == 404)
        try await rig.stop()
    }

    @Test func `offers to undo a book that the form has saved, like one that its row has saved`() async throws {
        let rig = try await StationRig()
        let isbn = "9783161484100"
        let events = try await rig.open("/api/events")
        try await events.read(until: "event: hello")
        let captured = try await rig.ask("POST", "/api/station/captures", #"{"text":"\#(isbn)"}"#)
        let id = try #require(captured.text("row.id"))
        try await events.read(until: #""standing":"notFound""#)
        events.close()
        let saved = try await rig.ask("POST", "/api/books", #"{"title":"Logic","isbnText":"\#(isbn)","owned":true}"#)
        let change = try #require(saved.text("change"))
        let station = try await rig.ask("GET", "/api/station")
        #expect(station.text("rows.0.id") == id && station.text("rows.0.standing") == "saved")
        #expect(station.text("rows.0.title") == "Logic" && station.text("rows.0.saved") == saved.text("id"))
        #expect(station.text("undo.kind") == "saved" && station.text("undo.change") == change)
        let undone = try await rig.ask("POST", "/api/station/undo", #"{"change":"\#(change)"}"#)
        #expect(undone.number("count") == 1)
        #expect(try await rig.ask("GET", "/api/station").text("rows.0.standing") == "notFound")
        try await rig.stop()
    }

    @Test func `captures once what is sent twice`() async throws {
        let rig = try await StationRig { _ in DecodedPhoto(symbols: [symbol(dune), symbol(dune)]) }
        let request = "01A1FF50-0000-7AAA-8000-000000000001"
        let body = #"{"text":"\#(dune)","origin":"scanner","request":"\#(request)"}"#
        for _ in 0..<2 {
            let captured = try await rig.ask("POST", "/api/station/captures", body)
            #expect(captured.status == 200 && captured.text("row.id") == request.lowercased())
        }
        #expect(try await rig.ask("GET", "/api/station").number("counts.waiting") == 1)
        for _ in 0..<2 {
            let path = "/api/station/photos?request=\(request)"
            let read = try await rig.ask("POST", path, Array("a photo".utf8), type: "image/jpeg")
            #expect(read.status == 200 && read.text("rows.1.isbn13") == dune && read["rows.2"] == nil)
        }
        #expect(try await rig.ask("GET", "/api/station").number("counts.waiting") == 3)
        try await rig.stop()
    }

    @Test(arguments: [
        (#"{"text":"9780441013593","request":"x"}"#, 400), (#"{"text":"9780441013594"}"#, 422), (#"{"text":""}"#, 422),
        (#"{"text":"9780441013593","origin":"hub"}"#, 400),
        (#"{"origin":"typed"}"#, 400), ("[", 400),
    ])
    func `refuses what cannot be captured`(_ body: String, _ status: Int) async throws {
        let rig = try await StationRig()
        #expect(try await rig.ask("POST", "/api/station/captures", body).status == status)
        #expect(try await rig.ask("GET", "/api/station").number("counts.waiting") == 0)
        try await rig.stop()
    }

    @Test func `captures every book in a photo, with its picture`() async throws {
        let rig = try await StationRig { bytes in
            #expect(bytes == Array("a photo".utf8))
            return DecodedPhoto(
                symbols: [symbol(dune, length: 120), symbol("4006381333931", length: 50)], thumbnail: [0xFF, 0xD8])
        }
        let answer = try await rig.ask("POST", "/api/station/photos", Array("a photo".utf8), type: "image/jpeg")
        #expect(answer.status == 200)
        #expect(answer.text("rows.0.isbn13") == dune && answer["rows.0.hasThumbnail"] as? Bool == true)
        #expect(answer.text("rows.0.origin") == "photo")
        #expect(answer.text("refused.0.payload") == "4006381333931")
        #expect(answer.number("shortestCode") == 50)
        let id = try #require(answer.text("rows.0.id"))
        let picture = try await rig.ask("GET", "/api/intake/\(id)/thumbnail")
        #expect(picture.status == 200 && picture.body == [0xFF, 0xD8])
        #expect(try await rig.ask("GET", "/api/intake/no-such-item/thumbnail").status == 404)
        try await rig.stop()
    }

    @Test func `refuses photos that are none, have no code, or are too large`() async throws {
        let rig = try await StationRig { _ in DecodedPhoto(symbols: []) }
        #expect(try await rig.ask("POST", "/api/station/photos", [1], type: "text/plain").status == 415)
        #expect(try await rig.ask("POST", "/api/station/photos", [1], type: "image/png").status == 422)
        let large = [UInt8](repeating: 0, count: Request.maxPhotoBytes + 1)
        #expect(try await rig.ask("POST", "/api/station/photos", large, type: "image/png").status == 413)
        try await rig.stop()
        let blind = try await StationRig()
        #expect(try await blind.ask("POST", "/api/station/photos", [1], type: "image/png").status == 503)
        try await blind.stop()
    }
}

/// - Parameter length: the length of the code, which is turned, so that its sides are three fifths and four fifths
///   of it.
private func symbol(_ payload: String, length: Double = 0) -> Symbol {
    let (left, right) = (Point(x: 0, y: 0), Point(x: length * 0.6, y: length * 0.8))
    return Symbol(
        payload: payload, quality: 1,
        corners: Corners(topLeft: left, topRight: right, bottomRight: right, bottomLeft: left))
}

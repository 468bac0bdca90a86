import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The language and the appearance that a browser has chosen` {
    private static func page(_ path: String, _ kiosk: WebKiosk, _ cookie: String) async throws -> String {
        try await kiosk.ask("GET", path, [("Accept", "text/html"), ("Accept-Language", "fr"), ("Cookie", cookie)]).body
    }

    @Test func `are in every page as it is sent, and in the messages`() async throws {
        try await withWebKiosk { kiosk in
            let chosen = "bookplate-language=de; bookplate-appearance=dark"
            for path in ["/home", "/library", "/nowhere"] {
                let page = try await Self.page(path, kiosk, chosen)
                #expect(page.contains("<html lang=\"de\" data-appearance=\"dark\">"), "\(path)")
                #expect(page.contains("<meta name=\"color-scheme\" content=\"dark\">"), "\(path)")
            }
            let refused = try await kiosk.ask("GET", "/api/books/1", [("Cookie", chosen)])
            #expect(refused.text("error.message")?.contains("gibt es nicht") == true, "\(refused.body)")
        }
    }

    @Test func `are in the sign-in page too`() async throws {
        try await withWebKiosk { kiosk in
            let page = try await kiosk.askAsStranger(
                "GET", "/sign-in",
                [("Accept", "text/html"), ("Cookie", "bookplate-language=de; bookplate-appearance=light")])
            #expect(page.body.contains("<html lang=\"de\" data-appearance=\"light\">"))
            #expect(page.body.contains("<h1>Anmelden</h1>"))
        }
    }

    @Test(arguments: [
        "", "bookplate-language=; bookplate-appearance=", "bookplate-language=xx; bookplate-appearance=\"><b>",
    ])
    func `are automatic without a valid choice`(_ cookie: String) async throws {
        try await withWebKiosk { kiosk in
            let page = try await Self.page("/home", kiosk, cookie)
            #expect(page.contains("<html lang=\"fr\">"))
            #expect(page.contains("<meta name=\"color-scheme\" content=\"light dark\">"))
        }
    }

    @Test func `are stored in cookies that only this site gets, and cleared by null`() async throws {
        try await withWebKiosk { kiosk in
            func choose(_ body: String) async throws -> [String] {
                let answer = try await kiosk.ask("PATCH", "/api/browser", body: body)
                #expect(answer.status == 200, "\(answer.body)")
                return answer.headers.filter { $0.name == "set-cookie" }.map(\.value)
            }
            let stored = try await choose(#"{"language": "de", "appearance": "dark"}"#)
            #expect(stored.map { $0.prefix { $0 != ";" } } == ["bookplate-language=de", "bookplate-appearance=dark"])
            #expect(stored.allSatisfy { $0.contains("SameSite=Strict") && $0.contains("Max-Age=34560000") })
            #expect(
                try await choose(#"{"appearance": null}"#) == [
                    "bookplate-appearance=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
                ])
            #expect(try await choose("{}").isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"language": "es"}"#, "badField"), (#"{"appearance": true}"#, "badField"),
        (#"{"colour": "red"}"#, "unknownField"),
    ])
    func `are refused if the pages do not have them`(_ body: String, _ code: String) async throws {
        try await withWebKiosk { kiosk in
            let answer = try await kiosk.ask("PATCH", "/api/browser", body: body)
            #expect(answer.status == 400 && answer.text("error.code") == code)
            #expect(answer["set-cookie"] == nil)
        }
    }

    @Test func `are what Settings shows`() async throws {
        try await withWebKiosk { kiosk in
            let page = try await Self.page("/settings", kiosk, "bookplate-language=de; bookplate-appearance=dark")
            #expect(page.contains("<option value=\"de\" lang=\"de\" selected>Deutsch</option>"))
            #expect(page.contains("<option value=\"dark\" selected>Dunkel</option>"))
        }
    }
}

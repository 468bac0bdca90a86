import Foundation
import Testing

/// All tests in a real browser: one Chromium, one page after the other.
@Suite(.serialized, .enabled(if: Browser.isReady, Browser.reason), OneBrowser()) struct `In a browser` {
    @TaskLocal static var browser: Browser?
}

/// Starts the browser before a suite, and ends it after its last test.
struct OneBrowser: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Browser.during { browser in
            try await `In a browser`.$browser.withValue(browser) { try await body() }
        }
    }
}

/// Opens a page of a new kiosk, and closes it; errors of the page are issues.
///
/// - Parameters:
///   - page: the path without the leading slash.
///   - home: the folder of an existing library.
///   - options: options of `scan kiosk`.
///   - prepare: fills the library before the page is opened; its result replaces "BOOK" in the path.
///   - excused: parts of expected errors.
func visit(
    _ page: String = "scan", on screen: Browser.Screen = .shelf, home: URL? = nil, options: [String] = ["--no-camera"],
    excused: [String] = [], prepare: (KioskProcess) async throws -> String = { _ in "" },
    _ body: (KioskProcess, Browser, String) async throws -> Void
) async throws {
    let kiosk = try await KioskProcess(home: home, options: options)
    defer { kiosk.remove() }
    let browser = try #require(`In a browser`.browser)
    do {
        let book = try await prepare(kiosk)
        try await browser.show(screen)
        try await browser.open(kiosk.address + "/" + page.replacing("BOOK", with: book))
        try await browser.ready()
        try await body(kiosk, browser, book)
        try await browser.expectQuiet(page, excused: excused)
    } catch {
        try? await browser.keepPicture("failed")
        try await browser.leave()
        throw error
    }
    try await browser.leave()
}

import Async
import Foundation
import Testing

/// All tests in a real browser. As many as there are cores, and one more, run at the same time, each with a browser of
/// its own.
@Suite(.enabled(if: Browser.isReady, Browser.reason), .browsers, .ownBrowser) struct `In a browser` {
    @TaskLocal fileprivate static var browsers: Browsers?
    @TaskLocal static var browser: Browser?
}

/// The browsers of the tests. Starting one takes as long as a test, so the next test uses it again.
private actor Browsers {
    /// While one test waits for its page, others use the processor.
    private let turns = AsyncSemaphore(permits: ProcessInfo.processInfo.activeProcessorCount + 1)
    private var idle: [Browser] = []

    /// Runs the body with a browser that no other test uses. After an error, the browser is ended, since nobody knows
    /// what it shows.
    nonisolated func lend(_ body: @Sendable (Browser) async throws -> Void) async throws {
        try await turns.withPermit {
            let browser: Browser
            if let one = await self.popIdle() { browser = one } else { browser = try await Browser() }
            do { try await body(browser) } catch {
                await browser.end()
                throw error
            }
            await self.takeBack(browser)
        }
    }

    private func popIdle() -> Browser? { idle.popLast() }
    private func takeBack(_ browser: Browser) { idle.append(browser) }

    func end() async {
        for browser in idle { await browser.end() }
        idle = []
    }
}

/// Ends the browsers after the last test.
private struct BrowsersTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        let browsers = Browsers()
        do {
            try await `In a browser`.$browsers.withValue(browsers) { try await body() }
        } catch {
            await browsers.end()
            throw error
        }
        await browsers.end()
    }
}

/// Gives each test a browser.
private struct OwnBrowserTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await #require(`In a browser`.browsers).lend { browser in
            try await `In a browser`.$browser.withValue(browser) { try await body() }
        }
    }
}

extension Trait where Self == BrowsersTrait {
    fileprivate static var browsers: Self { Self() }
}

extension Trait where Self == OwnBrowserTrait {
    fileprivate static var ownBrowser: Self { Self() }
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
        try? await browser.takePicture("failed-\(kiosk.port)")
        try await browser.leave()
        throw error
    }
    try await browser.leave()
}

import Foundation
import HTTP
import TestTools
import Testing

/// Debian's Chromium in headless mode, driven by its chromedriver.
final class Browser: Sendable {
    /// Set to "1" by script/test --all and --long when browser and checks are ready, else to the reason why they are
    /// not.
    private static let announced = ProcessInfo.processInfo.environment["BOOKPLATE_BROWSER"]
    static let isReady = announced == "1"
    private static let keepsPictures = ProcessInfo.processInfo.environment["BOOKPLATE_SCREENS"] != nil
    static let reason: Comment = "\(announced ?? "needs Chromium: script/test --all")"

    let driver: WebDriver
    private let process: Process

    /// - Parameter arguments: arguments of Chromium in addition to the usual ones.
    init(_ arguments: [String] = []) async throws {
        let port: Substring
        (process, port) = try await onThread { try Self.startDriver() }
        driver = try await WebDriver(
            at: try #require(WebAddress("http://127.0.0.1:\(port)/")),
            capabilities: [
                "timeouts": ["script": 240_000],
                "goog:loggingPrefs": ["browser": "ALL"],
                "goog:chromeOptions": [
                    "args": [
                        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                        "--accept-lang=en", "--lang=en", "--hide-scrollbars",
                    ] + arguments,
                    "prefs": ["intl.accept_languages": "en"],
                ],
            ])
        // Pages are weighed without a cache.
        try await driver.devTools("Network.enable")
        try await driver.devTools("Network.setCacheDisabled", ["cacheDisabled": true])
    }

    /// Starts chromedriver on a port that it chooses, and returns the port.
    ///
    /// chromedriver chooses a free IPv6 port and needs the same IPv4 port. If another program uses the IPv4 port,
    /// chromedriver is started again.
    private static func startDriver(attempts: Int = 5) throws -> (Process, Substring) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chromedriver")
        process.arguments = ["--port=0"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run(atMost: .seconds(1800))
        // "ChromeDriver was started successfully on port 41233."
        let announcement = "started successfully on port "
        var text = ""
        while !text.contains(announcement) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else {
                process.waitUntilExit()
                if text.contains("port not available"), attempts > 1 { return try startDriver(attempts: attempts - 1) }
                throw WebDriver.Failure(description: "chromedriver ended: \(text)")
            }
            text += String(decoding: data, as: UTF8.self)
        }
        return (process, text.components(separatedBy: announcement)[1].prefix { $0.isNumber })
    }

    /// Runs the body with a browser, and then always ends the browser.
    static func during(_ arguments: [String] = [], _ body: (Browser) async throws -> Void) async throws {
        let browser = try await Browser(arguments)
        do {
            try await body(browser)
        } catch {
            await browser.end()
            throw error
        }
        await browser.end()
    }

    /// Ends the browser and its driver.
    func end() async {
        // A driver that has crashed has no browser to end.
        try? await driver.end()
        // Processes started on a thread of Dispatch inherit its signal mask, in which SIGTERM is blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Leaves the page and clears its storage: each kiosk of the tests has an origin of its own.
    func leave() async throws {
        try await driver.command(.post, "url", ["url": "about:blank"])
        try await speak(nil)
        _ = try await pageErrors()
    }

    /// Sets the accepted languages from now on; `nil` for the default.
    func speak(_ languages: String?) async throws {
        try await driver.devTools(
            "Network.setExtraHTTPHeaders", ["headers": languages.map { ["Accept-Language": $0] } ?? [:]])
    }

    /// A screen's size in CSS pixels, and its colours.
    struct Screen: Sendable, CustomTestStringConvertible {
        var width: Int
        var height: Int
        var isDark = false
        /// True if the user prefers reduced motion.
        var isStill = false

        static let shelf = Screen(width: 800, height: 480)
        static let laptop = Screen(width: 1280, height: 800)
        static let phone = Screen(width: 390, height: 844)
        /// The screens that every page fits. Only colours differ in the dark, as a test in AssetTests says, so the dark
        /// ones are for pictures alone.
        static let all = [shelf, laptop, phone].flatMap {
            keepsPictures ? [$0, Screen(width: $0.width, height: $0.height, isDark: true)] : [$0]
        }

        var testDescription: String { "\(width)x\(height)\(isDark ? " dark" : "")" }
    }

    func show(_ screen: Screen) async throws {
        try await driver.devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.width < 500])
        try await driver.devTools(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": screen.isDark ? "dark" : "light"],
                    ["name": "prefers-reduced-motion", "value": screen.isStill ? "reduce" : "no-preference"],
                ]
            ])
    }

    func open(_ address: String) async throws { try await driver.command(.post, "url", ["url": address]) }

    /// Waits until the page receives events and handles keys.
    func ready() async throws {
        try await wait(
            "the page",
            until: "document.readyState === 'complete' && document.body.hasAttribute('data-connected') "
                + "&& document.body.hasAttribute('data-hears-keys')")
    }

    func reload() async throws { try await driver.command(.post, "refresh", [:]) }

    /// Waits until the script returns a truthy value, and returns it.
    @discardableResult
    func wait(_ what: String = "", until expression: String, within seconds: Int = 60) async throws -> Any? {
        // Evaluated with every change of the page, and every tenth of a second for changes elsewhere.
        let found = try await onPage(
            """
            return new Promise((resolve) => {
              const test = () => { try { return (\(expression)); } catch { return null; } };
              const done = (value) => { observer.disconnect(); clearInterval(timer); clearTimeout(limit); resolve(value); };
              const look = () => { const value = test(); if (value) done(value === true ? true : String(value)); };
              const observer = new MutationObserver(look);
              observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
              const timer = setInterval(look, 100);
              const limit = setTimeout(() => done(null), \(seconds * 1000));
              look();
            });
            """)
        guard found is NSNull else { return found }
        let place: String? = try await value("location.href")
        let errors = try await pageErrors()
        return try #require(nil, "\(what): never came to be at \(place ?? ""): \(expression) \(errors)")
    }

    /// Waits while the page asks whether the service is there, before it opens another page.
    private func leavePage() async throws {
        _ = try await onPage(
            """
            return new Promise((resolve) => {
              const look = () => document.documentElement.hasAttribute("data-leaving") ? setTimeout(look, 20) : resolve();
              look();
            });
            """)
    }

    /// Runs a script that takes long. If the page is left in the meantime, the script runs again in the next page.
    private func onPage(_ script: String, pages: Int = 5) async throws -> Any? {
        do {
            return try await driver.run(script)
        } catch let failure as WebDriver.Failure
            where pages > 1 && failure.description.contains("aborted by navigation")
        {
            return try await onPage(script, pages: pages - 1)
        }
    }

    /// Types on the keyboard into the element that has the focus.
    ///
    /// The page sees the keys exactly `pause` apart, however busy the machine is: see ``keyClock``.
    ///
    /// - Parameter pause: the time between two keys in milliseconds; people need more than 60, handheld scanners less
    ///   than 20.
    func type(_ keys: String, pause: Int = 80) async throws {
        var actions: [[String: Any]] = []
        for key in keys {
            actions.append(["type": "keyDown", "value": String(key)])
            actions.append(["type": "keyUp", "value": String(key)])
            if pause > 0 { actions.append(["type": "pause", "duration": pause]) }
        }
        try await duringKeyClock(step: max(1, pause)) {
            try await driver.command(
                .post, "actions", ["actions": [["type": "key", "id": "keys", "actions": actions]]])
        }
        try await leavePage()
    }

    /// Runs the body while the page's timers wait for ``keyClock``, which only goes on with each key.
    ///
    /// - Parameter step: the time from one key to the next, in milliseconds.
    func duringKeyClock(step: Int, _ body: () async throws -> Void) async throws {
        try await driver.run("\(Self.keyClock) window.keyClock.start(arguments[0]);", [step])
        try await body()
        // The body may have left the page.
        try await driver.run("window.keyClock?.stop();")
    }

    /// A clock for keys. While it runs, the time stamps of keys are a fixed step apart, and timers that the page sets
    /// wait for that time instead of the machine's.
    private static let keyClock = """
        window.keyClock ??= (() => {
          const set = window.setTimeout.bind(window), clear = window.clearTimeout.bind(window);
          const real = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp").get, stamps = new WeakMap();
          const timers = new Map();
          let now = null, step = 0, number = 1e9;
          const advance = () => {
            now += step;
            const due = [...timers].filter(([, timer]) => timer.at <= now).sort((a, b) => a[1].at - b[1].at);
            for (const [id, timer] of due) if (timers.delete(id)) timer.run();
            return now;
          };
          Object.defineProperty(Event.prototype, "timeStamp", { get() {
            if (!stamps.has(this) && now !== null && this.type === "keydown" && this.isTrusted) stamps.set(this, advance());
            return stamps.get(this) ?? real.call(this);
          } });
          window.setTimeout = (run, delay = 0, ...rest) => {
            if (now === null) return set(run, delay, ...rest);
            timers.set(++number, { run: () => run(...rest), at: now + delay });
            return number;
          };
          window.clearTimeout = (id) => { clear(timers.get(id)?.id ?? id); timers.delete(id); };
          return {
            start: (pause) => { [now, step] = [performance.now(), pause]; },
            stop: () => {
              advance();
              for (const [id, timer] of timers) {
                timer.id ??= set(() => { if (timers.delete(id)) timer.run(); }, Math.max(0, timer.at - now));
              }
              now = null;
            },
          };
        })();
        """

    /// Types a number as a handheld scanner does.
    func scan(_ number: String) async throws { try await type(number + Keys.enter, pause: 0) }

    func text(of selector: String) async throws -> String? {
        try await driver.run("return document.querySelector(arguments[0])?.innerText ?? null", [selector]) as? String
    }

    /// Returns the value of a script in the page.
    func value<Value>(_ expression: String, as type: Value.Type = Value.self) async throws -> Value? {
        try await driver.run("return (\(expression))") as? Value
    }

    /// Chooses files in an <input type=file>.
    func give(_ path: String, to selector: String) async throws {
        try await driver.command(.post, "element/\(try await element(selector).id)/value", ["text": path])
    }

    private func element(_ selector: String) async throws -> (id: String, reference: [String: String]) {
        let element = try #require(
            try await driver.command(.post, "element", ["using": "css selector", "value": selector])
                as? [String: String])
        return (try #require(element.values.first), element)
    }

    func click(_ selector: String) async throws {
        for isLast in [false, false, true] {
            do {
                let (id, element) = try await element(selector)
                try await driver.run("arguments[0].scrollIntoView({ block: 'center' })", [element])
                try await driver.command(.post, "element/\(id)/click", [:])
                try await leavePage()
                return
            } catch let failure as WebDriver.Failure where !isLast && failure.description.contains("stale element") {
                // That part of the page was just replaced: click the new element.
            }
        }
    }

    /// Waits until the browser keeps no numbers and no photos for the station.
    func isEmptied() async throws {
        let kept = """
            return import("/assets/outbox-store.js").then(async ({ listKept }) =>
              (await listKept("numbers")).length + (await listKept("photos")).length)
            """
        try await TestTools.wait(for: "nothing to be kept", every: .milliseconds(100)) {
            try await driver.run(kept) as? Int == 0
        }
    }

    /// Returns the page's errors since the last call: failed scripts and violations of the content security policy.
    func pageErrors() async throws -> [String] {
        let entries = try await driver.command(.post, "se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return entries.filter { $0["level"] as? String == "SEVERE" }.map { "\($0["message"] ?? "")" }
    }

    /// Expects no errors of the page except for the excused ones, such as a refused request.
    func expectQuiet(_ page: String, excused: [String] = []) async throws {
        let found = try await pageErrors().filter { error in
            !([" 422 "] + excused).contains { error.contains($0) }
        }
        #expect(found.isEmpty, "\(page): \(found.joined(separator: "\n"))")
    }

    /// Saves a screenshot in .build/screens for review, if BOOKPLATE_SCREENS is set.
    func keepPicture(_ name: String) async throws {
        if Self.keepsPictures { try await takePicture(name) }
    }

    /// Saves a screenshot in .build/screens.
    func takePicture(_ name: String) async throws {
        let picture = try #require(try await driver.command(.get, "screenshot") as? String)
        let folder = KioskProcess.root.appendingPathComponent(".build/screens")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try #require(Data(base64Encoded: picture)).write(to: folder.appendingPathComponent(name + ".png"))
    }
}

/// Keys without a character, as encoded by WebDriver (17.4.2).
enum Keys {
    static let enter = "\u{E007}", escape = "\u{E00C}", tab = "\u{E004}", space = " ", shift = "\u{E008}"
    static let delete = "\u{E017}", back = "\u{E003}", home = "\u{E011}", end = "\u{E010}"
    static let pageUp = "\u{E00E}", pageDown = "\u{E00F}"
    static let down = "\u{E015}", up = "\u{E013}", left = "\u{E012}", right = "\u{E014}"
}

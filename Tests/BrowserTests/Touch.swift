import Foundation
import Testing

/// Fingers on a touch screen, which the browser receives as real touches.
extension Browser {
    /// Runs the body on a touch screen without a keyboard.
    func withTouchScreen(_ body: () async throws -> Void) async throws {
        try await setTouch(true)
        do {
            try await body()
        } catch {
            try await setTouch(false)
            throw error
        }
        try await setTouch(false)
    }

    private func setTouch(_ isOn: Bool) async throws {
        try await driver.devTools(
            "Emulation.setTouchEmulationEnabled", isOn ? ["enabled": true, "maxTouchPoints": 5] : ["enabled": false])
    }

    /// Touches an element, which a finger has to be able to hit: it must be at least 44 px wide and high, within the
    /// screen, and not covered by another element. A message that covers it is closed first, with a touch.
    ///
    /// - Parameters:
    ///   - selector: the element, or the field of a larger label. A link that spans its row counts as large as the row.
    ///   - isHeld: true to lift the finger only when the variants of a key are shown.
    func touch(_ selector: String, isHeld: Bool = false) async throws {
        try await wait("\(selector)", until: "document.querySelector(\(Self.quoted(selector))) !== null")
        var target = try await target(selector)
        if target.hasPrefix("message ") {
            try await tap(at: target)
            target = try await self.target(selector)
        }
        try await tap(at: target, of: selector, isHeld: isHeld)
        // A line above it has just appeared or gone, so that the finger came down beside it.
        for _ in 0..<3 where try await driver.run("return window.isTouched === false") as? Bool == true {
            try await tap(at: self.target(selector), of: selector, isHeld: isHeld)
        }
    }

    private func tap(at target: String, of selector: String = "a message", isHeld: Bool = false) async throws {
        let place = target.trimmingPrefix("message ").split(separator: " ").compactMap { Double($0) }
        // A reason may contain numbers too.
        try #require(target.wholeMatch(of: /(message )?[0-9.]+ [0-9.]+/) != nil, "\(selector) \(target)")
        let point = [["x": place[0], "y": place[1]]]
        func touch(_ type: String, _ points: [Any]) async throws {
            try await driver.devTools("Input.dispatchTouchEvent", ["type": type, "touchPoints": points])
        }
        if isHeld {
            try await touch("touchStart", point)
            try await wait("the variants", until: "document.querySelector('#keyboard .more')")
            try await touch("touchEnd", [])
        } else {
            // However long the machine takes to lift the finger, the page does not see it as held.
            try await duringKeyClock(step: 1) {
                try await touch("touchStart", point)
                try await touch("touchEnd", [])
            }
        }
    }

    /// Returns the middle of an element as "x y", "message x y" for a message that covers it, or the reason why no
    /// finger can hit it.
    private func target(_ selector: String) async throws -> String {
        let script = """
            const [selector] = arguments;
            function find() {
              const element = document.querySelector(selector);
              const isRow = element && getComputedStyle(element, "::after").position === "absolute";
              return element?.closest("label") ?? ((isRow && element.closest("li")) || element);
            }
            const hit = find();
            hit.scrollIntoView({ block: "nearest", inline: "nearest" });
            let box = hit.getBoundingClientRect();
            const isFixed = hit.closest("dialog, .bar, [popover]"), top = document.querySelector(".bar").getBoundingClientRect().bottom;
            if (!isFixed && box.top < top) { scrollBy(0, box.top - top - 8); box = hit.getBoundingClientRect(); }
            const x = box.left + box.width / 2, y = box.top + box.height / 2, there = document.elementFromPoint(x, y);
            const message = there?.closest(".toast")?.querySelector("span").getBoundingClientRect();
            if (message && !hit.closest(".toast")) return `message ${message.left + message.width / 2} ${message.top + message.height / 2}`;
            if (box.width < 43.5 || box.height < 43.5) return `is only ${Math.round(box.width)} x ${Math.round(box.height)} px large`;
            if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return `is outside the screen, at ${x}, ${y}`;
            if (!hit.contains(there)) return `is covered by ${there?.outerHTML.slice(0, 120)}`;
            window.isTouched = null;
            addEventListener("pointerdown", ({ target }) => { window.isTouched = find()?.contains(target) ?? true; }, { capture: true, once: true });
            return `${x} ${y}`;
            """
        return try #require(try await driver.run(script, [selector]) as? String)
    }

    /// Types a text by touching the keys of the pages' keyboard, which must be shown.
    func touchKeys(_ text: String) async throws {
        try await wait("the keyboard", until: Self.isKeyboardShown)
        for char in text {
            let (exact, lower) = (Self.quoted(String(char)), Self.quoted(char.lowercased()))
            let key = "#keyboard :is([data-char=\(exact)], [data-char=\(lower)])"
            let isThere = try await value("document.querySelector(\(Self.quoted(key))) !== null", as: Bool.self)
            if isThere == false { try await touch("#keyboard :is([data-press=letters], [data-press=symbols])") }
            if char.isUppercase,
                try await value("document.querySelector(\(Self.quoted(key))).textContent") != String(char)
            {
                try await touch("#keyboard [data-press=shift]")
            }
            try await touch(key)
        }
    }

    /// Touches a key without a character, such as "enter".
    func touchKey(_ name: String) async throws { try await touch("#keyboard [data-press=\(name)]") }

    /// Touches a field, or the button that shows it, and the keys of a text and Enter.
    func touch(_ selector: String, andType text: String) async throws {
        try await touch(selector)
        try await touchKeys(text)
        try await touchKey("enter")
    }

    static let isKeyboardShown = "document.querySelector('#keyboard:popover-open') !== null"
    static let isKeyboardHidden = "document.querySelector('#keyboard:popover-open') === null"

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}

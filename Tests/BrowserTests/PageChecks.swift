import Foundation
import TestTools
import Testing

/// Checks that apply to any page.
extension Browser {
    /// Returns the serious and critical findings of axe-core (www.deque.com/axe).
    ///
    /// - Parameter rules: the rules to check; `nil` for all.
    func violations(of rules: [String]? = nil) async throws -> [String] {
        let path = try #require(ProcessInfo.processInfo.environment["BOOKPLATE_AXE"])
        let isThere: Bool? = try await value("'axe' in window")
        let found = try await driver.run(
            (isThere == true ? "" : try String(contentsOfFile: path, encoding: .utf8))
                + """
                ;const options = { resultTypes: ["violations"], ...(arguments[0] ? { runOnly: arguments[0] } : {}) };
                return axe.run(document, options).then((result) => result.violations
                  .filter((one) => one.impact === "serious" || one.impact === "critical")
                  .map((one) => `${one.id}: ${one.nodes.slice(0, 4).map((node) => node.html.slice(0, 160)).join(" | ")}`));
                """, [rules ?? NSNull()])
        return try #require(found as? [String], "axe gave no answer")
    }

    /// Returns the pixels by which the page scrolls sideways, and the cause.
    func overhang() async throws -> [String] {
        try await driver.run(
            """
            const root = document.documentElement;
            if (root.scrollWidth <= root.clientWidth) return [];
            return [`${root.scrollWidth - root.clientWidth} pixels too wide`, ...[...document.querySelectorAll("body *")]
              .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1).slice(0, 4).map((e) => e.outerHTML.slice(0, 120))];
            """) as? [String] ?? ["no answer"]
    }

    /// Returns the targets that are lower than 44 px, the width of a thumb. Exempt are links within a text, fields
    /// within a larger label, and controls within a larger row that does the same (WCAG 2.2, 2.5.8: "Equivalent").
    func smallTargets() async throws -> [String] {
        try await driver.run(
            """
            return [...document.querySelectorAll("button,a[href],input,select,textarea,summary,[role=button],[role=tab],[role=option]")]
              .filter((e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest(".visually-hidden,.skip"))
              .filter((e) => getComputedStyle(e).display !== "inline" && getComputedStyle(e, "::after").position !== "absolute")
              .filter((e) => !(e.matches("input") && e.closest("label, .choosing .hit")?.getBoundingClientRect().height >= 43.5))
              .filter((e) => { const box = e.getBoundingClientRect(); return box.width > 1 && box.height < 43.5; })
              .map((e) => `${e.tagName.toLowerCase()}.${e.className}#${e.id} "${(e.innerText || e.value || "").slice(0, 20)}" ${Math.round(e.getBoundingClientRect().height)}px`);
            """) as? [String] ?? ["no answer"]
    }

    /// Expects the page to fit every screen, and saves screenshots if they are wanted, also of the dark page.
    func expectFit(_ name: String) async throws {
        let file = name.replacing("/", with: "-").replacing("?", with: "-")
        for screen in Screen.all {
            try await show(screen)
            let (wide, small) = (try await overhang(), try await smallTargets())
            #expect(wide.isEmpty, "\(name) at \(screen): \(wide.joined(separator: ", "))")
            #expect(small.isEmpty, "\(name) at \(screen): \(small.prefix(6).joined(separator: ", "))")
            try await keepPicture("\(file)-\(screen.width)x\(screen.height)\(screen.isDark ? "-dark" : "")")
        }
    }

    /// Expects the page to be accessible, in light and dark.
    func expectAccess(_ name: String, excused: [String] = []) async throws {
        try await expectQuiet(name, excused: excused)
        for isDark in [false, true] {
            try await show(Screen(width: 800, height: 480, isDark: isDark))
            // Animations have intermediate colours.
            try await wait("a page at rest", until: "document.getAnimations().length === 0")
            // Only the colours differ in the dark.
            let found = try await violations(of: isDark ? ["color-contrast", "link-in-text-block"] : nil)
            #expect(found.isEmpty, "\(name)\(isDark ? " dark" : ""): \(found.joined(separator: "\n"))")
        }
        // axe tries inline styles, which the content security policy blocks. The browser may log that some time later,
        // but before what is logged now.
        let mark = "axe is done"
        try await driver.run("console.error(arguments[0])", [mark])
        try await TestTools.wait(for: "the log") { try await pageErrors().contains { $0.contains(mark) } }
    }
}

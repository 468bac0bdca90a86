import Foundation
import Testing

extension `In a browser` {
    /// The section "This browser" of the Settings page.
    @Suite struct `The settings of a browser` {
        @Test func `change the language and the appearance of all pages`() async throws {
            try await visit("settings") { kiosk, browser, _ in
                let paper = "getComputedStyle(document.body.parentElement).backgroundColor"
                for (choice, light, dark) in [
                    ("dark", "rgb(20, 18, 15)", "rgb(20, 18, 15)"),
                    ("light", "rgb(250, 247, 242)", "rgb(250, 247, 242)"),
                    ("", "rgb(250, 247, 242)", "rgb(20, 18, 15)"),
                ] {
                    try await choose(choice, in: "#browser-appearance", browser)
                    for page in ["settings", "home", "scan"] {
                        try await browser.open(kiosk.address + "/" + page)
                        for (isDark, colour) in [(false, light), (true, dark)] {
                            try await browser.show(Browser.Screen(width: 800, height: 480, isDark: isDark))
                            #expect(try await browser.value(paper) == colour, "\(page), \(choice)")
                        }
                    }
                    try await browser.open(kiosk.address + "/settings")
                }
                try await choose("de", in: "#browser-language", browser)
                try await browser.wait("German", until: "document.documentElement.lang === 'de'")
                #expect(try await browser.text(of: "h1") == "Einstellungen")
                try await choose("", in: "#browser-language", browser)
                try await browser.wait("English", until: "document.documentElement.lang === 'en'")
            }
        }

        private func choose(_ value: String, in field: String, _ browser: Browser) async throws {
            try await browser.ready()
            try await browser.driver.run(
                """
                const field = document.querySelector(arguments[0]);
                field.value = arguments[1];
                field.dispatchEvent(new Event("change", { bubbles: true }));
                field.dataset.old = "";
                """, [field, value])
            try await browser.wait(
                "the page again", until: "!document.querySelector('\(field)').matches('[data-old]')")
            try await browser.ready()
            #expect(try await browser.value("document.querySelector('\(field)').value") == value)
        }
    }
}

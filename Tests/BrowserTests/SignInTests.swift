import Foundation
import Testing

extension `In a browser` {
    /// A device of the household and one of a guest, other than the station.
    @Suite(.enabled(if: Network.address != nil, "needs an address beside the loopback's")) struct `Another device` {
        @Test func `signs in with the code, and with no other`() async throws {
            try await fromElsewhere("scan", isOpen: false) { kiosk, browser in
                try await browser.wait("the page", until: "location.pathname === '/sign-in'")
                try await browser.expectAccess("sign-in")
                try await browser.expectFit("sign-in")
                #expect(try await browser.text(of: ".product") == "Bookplate")
                #expect(try await browser.value("document.querySelector('.product img').naturalWidth > 0") == true)
                try await browser.show(.phone)
                try await browser.click("#code")
                try await browser.type("wrong horse" + Keys.enter)
                try await browser.wait(
                    "the reason", until: "document.querySelector('#message').textContent.includes('Wrong code')")
                #expect(try await browser.value("document.getElementById('code').ariaInvalid") == "true")
                try await browser.keepPicture("sign-in-wrong-390x844")
                // The wrong code is selected, so that typing replaces it.
                try await browser.type("correct horse" + Keys.enter)
                try await browser.wait("where it wanted to go", until: "location.pathname === '/scan'")
                try await browser.reload()
                try await browser.wait("still there", until: "document.getElementById('scan')")
                // The list of sign-ins formats days like all pages, in every language.
                for (language, day) in [
                    ("en-US", #/[0-9]{1,2} [A-Z][a-z]+ 20[0-9]{2}/#), ("de", #/[0-9]{1,2}\. [A-Z][a-zä]+ 20[0-9]{2}/#),
                    ("fr", #/[0-9]{1,2} [a-zéû]+ 20[0-9]{2}/#),
                ] {
                    try await browser.speak(language)
                    try await browser.open(kiosk.address + "/settings")
                    try await browser.wait("the sign-ins", until: "document.querySelector('#sign-ins li')")
                    let signIns = try await browser.text(of: "#sign-ins") ?? ""
                    #expect(signIns.contains(day), "\(language): \(signIns)")
                }
                try await browser.speak(nil)
            }
        }

        @Test func `of a guest can look, but change nothing`() async throws {
            try await fromElsewhere("library", isOpen: true) { kiosk, browser in
                try await browser.wait("the library", until: "document.getElementById('hits')")
                #expect(try await browser.text(of: "#hits")?.contains("The Dispossessed") == true)
                try await browser.keepPicture("guest-library-800x480")
                for page in ["home", "stats", "books/" + (try await browser.guestsBook())] {
                    try await browser.open(kiosk.address + "/" + page)
                    try await browser.ready()
                    #expect(try await browser.value("location.pathname") == "/" + page)
                    let acts: Int? = try await browser.value(
                        "[...document.querySelectorAll('main [data-act]:not([aria-pressed])')].filter((e) => e.checkVisibility()).length"
                    )
                    #expect(acts == 0, "\(page) offers acts to a guest")
                    try await browser.keepPicture("guest-\(page.prefix(5))-800x480")
                }
                // Guests cannot scan.
                try await browser.open(kiosk.address + "/home")
                #expect(try await browser.text(of: ".empty")?.contains("Browse the library") == true)
                #expect(try await browser.text(of: "main")?.lowercased().contains("scan") == false)
                try await browser.open(kiosk.address + "/settings")
                try await browser.wait("the sign-in", until: "location.pathname === '/sign-in'")
            }
        }

        private func fromElsewhere(
            _ page: String, isOpen: Bool, _ body: (KioskProcess, Browser) async throws -> Void
        ) async throws {
            let home = FileManager.default.temporaryDirectory.appendingPathComponent(
                "bookplate-browser-\(UUID().uuidString)")
            let here = try await KioskProcess(home: home)
            try await here.scan("kiosk", "code", input: "correct horse\n")
            try await here.scan("library", "add", "--title", "The Dispossessed", "--author", "Ursula K. Le Guin")
            if isOpen { try await here.ask("PUT", "/api/settings/guestView", ["value": true]) }
            here.stop()
            let kiosk = try await KioskProcess(
                home: home, options: ["--no-camera", "--listen", try #require(Network.address)])
            defer { kiosk.remove() }
            let browser = try #require(`In a browser`.browser)
            try await browser.show(.shelf)
            try await browser.open(kiosk.address + "/" + page)
            try await body(kiosk, browser)
            try await browser.driver.command(.delete, "cookie")
            try await browser.leave()
        }
    }
}

extension Browser {
    /// Returns the first book of the Library page.
    fileprivate func guestsBook() async throws -> String {
        try #require(try await value("document.querySelector('.hit .name').id.slice(2)"))
    }
}

/// Returns this machine's address on the network.
enum Network {
    static let address: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry, let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
                entry.pointee.ifa_flags & UInt32(IFF_UP) != 0
            else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard
                getnameinfo(
                    address, socklen_t(MemoryLayout<sockaddr_in>.size), &name, socklen_t(name.count), nil, 0,
                    NI_NUMERICHOST) == 0
            else { continue }
            let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !text.hasPrefix("127.") { return text }
        }
        return nil
    }()
}

import Testing

@testable import Kiosk

@Suite struct `The language of the pages` {
    @Test(arguments: [
        (nil, Language.english), ("", .english), ("de", .german), ("fr-CA,fr;q=0.9,en;q=0.8", .french),
        ("es,de;q=0.3,en;q=0.7", .english), ("den", .english), ("de;q=0", .english), ("*", .english),
        ("de-AT", .german), ("nl;q=0.9, fr;q=0.4", .french),
    ])
    func `is the one that the browser prefers`(_ header: String?, _ language: Language) {
        #expect(Language(accepting: header) == language)
    }
}

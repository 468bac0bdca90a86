import Testing

extension CameraRig {
    @Suite(.enabled(if: Rig.isReady, Rig.reason)) struct `A handheld scanner` {
        @Test
        func `is grabbed by scan, is used again after it was unplugged, and no other device is grabbed in its place`()
            throws
        {
            let ending = try Rig().run("scanner")
            let events = try ending.events(of: "exclusive")
            let captured = events.filter { $0["event"] as? String == "captured" }
            #expect(
                captured.compactMap { $0["isbn13"] as? String } == [
                    "9780441478125", "9780743273565", "9782070360024", "9780804429573", "9780141439518",
                    "9780385333849",
                ])
            #expect(captured.allSatisfy { $0["origin"] as? String == "scanner" })
            #expect(
                captured.map { $0["raw"] as? String }[1...3] == [
                    "]E0978-0-7432-7356-5", "978-2-07-036002-4", "080442957X",
                ])
            let refused = events.filter { $0["event"] as? String == "refused" }
            #expect(refused.map { $0["raw"] as? String } == ["9780441478126"])

            #expect(ending.facts["second-reader"] == "grab: EBUSY")
            #expect(ending.facts["second-heard"] == "keys: 0")
            #expect(ending.facts["keyboard-path"] == ending.facts["path"])
            #expect(ending.facts["keyboard-grab"] == "grab: taken")
            #expect(ending.facts["exclusive-status"] == "143")

            // Five keys that were pressed and released, and the one that was held: the scanner was grabbed after its
            // release, and then the listener received nothing more.
            #expect(ending.facts["heard-before"] == "keys: 11")
            #expect(try ending.isbns(of: "pressed", "captured") == ["9780441478125"])

            #expect(ending.facts["no-scanner-/etc/passwd"]?.contains("is not an input device") == true)
            #expect(ending.facts["no-scanner-/dev/input/event1"]?.contains("cannot type digits and Enter") == true)
            let denied = ending.lines(of: "denied").joined()
            #expect(denied.contains("group 'input'") && denied.contains("udev/70-bookplate.rules"))
        }
    }
}

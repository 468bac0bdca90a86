import Testing

extension CameraRig {
    @Suite(.enabled(if: Rig.Arm64.isReady, Rig.Arm64.reason)) struct `An arm64 machine` {
        /// webcam-640x480.jpg and twelve-megapixel.jpg.
        private static let (book, photographed) = ("9780141439846", "9780553380163")

        /// With the processor of a Raspberry Pi 4.
        @Test func `captures a book from every kind of camera, confines the reading of photos and uses little memory`()
            throws
        {
            let ending = try ending(
                of: Rig.Arm64(root: "BOOKPLATE_ARM64_ROOT", kernel: "linux-image-arm64", processor: "cortex-a72"),
                cameras: [
                    "uvc:webcam-640x480.jpg:640x480:5:MJPG", "loopback:webcam-640x480.jpg:640x480:5:GREY", "vivid",
                ])
            #expect(ending.facts["page-size"] == "4096")
            try expectCaptures(ending, formats: ["640x480 MJPG", "640x480 GREY"])
            try expectService(ending)
        }

        /// With the processor and the size of pages of a Raspberry Pi 5.
        @Test func `does the same with memory pages of 16 KiB`() throws {
            let ending = try ending(
                of: Rig.Arm64(
                    root: "BOOKPLATE_ARM64_16K_ROOT", kernel: "linux-image-arm64-16k", processor: "cortex-a76"),
                cameras: ["uvc:webcam-640x480.jpg:640x480:5:MJPG", "vivid"])
            #expect(ending.facts["page-size"] == "16384")
            try expectCaptures(ending, formats: ["640x480 MJPG"])
            try expectService(ending)
        }

        private func ending(of machine: Rig.Arm64, cameras: [String]) throws -> Rig.Ending {
            let photo = Rig.root.appendingPathComponent("samples/photos/twelve-megapixel.jpg").path
            let ending = try Rig(cameras: cameras, environment: ["PHOTO": photo], arm64: machine, limit: 1200)
                .run("arm64")
            #expect(ending.facts["machine"] == "aarch64")
            return ending
        }

        /// Checks that the first cameras sent the book in these formats, and that the last one, vivid, can be used.
        private func expectCaptures(_ ending: Rig.Ending, formats: [String]) throws {
            let usable = try ending.events(of: "devices").filter { $0["usable"] as? Bool == true }
                .compactMap { $0["path"] as? String }
            let cameras = (0...formats.count).compactMap { ending.facts["camera-\($0)"] }
            #expect(cameras.count == formats.count + 1 && Set(cameras) == Set(usable))
            for (number, format) in formats.enumerated() {
                #expect(try ending.isbns(of: "camera-\(number)", "captured") == [Self.book])
                #expect(try ending.isbns(of: "camera-\(number)", "saved") == [Self.book])
                #expect(ending.lines(of: "camera-\(number)").first?.contains(format) == true)
                #expect(ending.facts["camera-\(number)-status"] == "143")
            }
        }

        private func expectService(_ ending: Rig.Ending) throws {
            #expect(ending.facts["doctor-status"] == "0")
            let checks = try ending.events(of: "doctor")
            let confinement = try #require(checks.first { $0["check"] as? String == "confinement" })
            #expect(confinement["state"] as? String == "ok")
            let mechanisms = try #require(confinement["fact"] as? String)
            #expect(mechanisms.contains(/under Landlock \d+ and seccomp$/))
            #expect(ending.facts["photo-is-confined"] == "yes")
            #expect(ending.files["photo.out"]?.contains("\"isbn13\":\"\(Self.photographed)\"") == true)

            #expect(ending.facts["page-status"] == "200")
            let resident = try #require(Int(ending.facts["kiosk-kilobytes", default: ""]))
            let own = try #require(Int(ending.facts["kiosk-private-kilobytes", default: ""]))
            print("a kiosk at rest on arm64: \(resident >> 10) MiB resident, \(own >> 10) MiB of it private")
            #expect(resident <= 80 << 10)
            #expect(ending.facts["kiosk-status"] == "0")
        }
    }
}

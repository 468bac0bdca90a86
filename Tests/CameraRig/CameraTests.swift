import TestTools
import Testing

extension CameraRig {
    @Suite(.enabled(if: Rig.isReady, Rig.reason)) struct `A camera` {
        /// webcam-640x480.jpg, and the two books of overlapping.jpg.
        private static let (first, second, third) = ("9780141439846", "9780743273565", "9780201835953")

        @Test func `is listed with its modes, and a book held up to it is captured once, in every format`() throws {
            let rig = Rig(cameras: [
                "uvc:webcam-640x480.jpg+overlapping.jpg:1600x1200:5:MJPG", "uvc:webcam-640x480.jpg:640x480:5:YUYV",
                "loopback:webcam-640x480.jpg:640x480:10:GREY", "loopback:webcam-640x480.jpg:640x480:10:NV12", "vivid",
            ])
            let ending = try rig.run("capture")
            try expectList(ending)

            let captured = try ending.isbns(of: "mjpg", "captured")
            #expect(captured.first == Self.first)
            #expect(try #require(Int(ending.facts["clock-jump", default: ""])) >= 3600, "the clock was set meanwhile")
            #expect(captured.count == 3 && Set(captured) == [Self.first, Self.second, Self.third])
            #expect(Set(try ending.isbns(of: "mjpg", "saved")) == Set(captured))
            #expect(ending.lines(of: "mjpg").first?.hasSuffix("1600x1200 MJPG, 5 fps") == true)
            for (number, format) in [(1, "640x480 YUYV"), (2, "640x480 GREY"), (3, "640x480 NV12")] {
                #expect(try ending.isbns(of: "camera-\(number)", "captured") == [Self.first])
                #expect(ending.lines(of: "camera-\(number)").first?.contains(format) == true)
            }
            for name in ["mjpg", "camera-1", "camera-2", "camera-3"] {
                #expect(try ending.events(of: name).allSatisfy { $0["origin"] as? String == "camera" })
                #expect(ending.facts["\(name)-status"] == "143")
            }
        }

        private func expectList(_ ending: Rig.Ending) throws {
            let devices = try ending.events(of: "devices")
            let usable = devices.filter { $0["usable"] as? Bool == true }
            let listed = Dictionary(uniqueKeysWithValues: usable.map { ($0["path"] as? String ?? "", $0) })
            let rows = [
                (0, "Rig UVC camera", "uvcvideo", "MJPG 1600x1200"), (1, "Rig UVC camera", "uvcvideo", "YUYV 640x480"),
                (2, "Rig-camera-0", "v4l2 loopback", "GREY 640x480"),
                (3, "Rig-camera-1", "v4l2 loopback", "NV12 640x480"),
                (4, "vivid", "vivid", "GREY 1280x720"),
            ]
            for (number, name, driver, mode) in rows {
                let device = try #require(listed[ending.facts["camera-\(number)", default: ""]], "camera \(number)")
                #expect((device["name"] as? String)?.hasPrefix(name) == true)
                #expect(device["driver"] as? String == driver)
                let modes = try #require(device["modes"] as? [[String: Any]]).map {
                    "\($0["format"] as? String ?? "") \($0["width"] as? Int ?? 0)x\($0["height"] as? Int ?? 0)"
                }
                #expect(modes.contains(mode))
                #expect(number == 4 || modes.count == 1)
            }
            // Each USB camera has a second node, for metadata.
            let refused = devices.filter { $0["type"] as? String == "camera" && $0["usable"] as? Bool == false }
            #expect(refused.count == 2)
            #expect(refused.allSatisfy { ($0["reason"] as? String)?.contains("metadata") == true })
        }

        @Test func `is used again after it was unplugged or hung, any number of times, without leaking resources`()
            throws
        {
            let cycles = isLong ? 500 : 20
            let rig = Rig(
                cameras: ["uvc:no-code-table.jpg+webcam-640x480.jpg:640x480:10:MJPG"],
                environment: ["CYCLES": "\(cycles)"],
                limit: 120 + cycles * 12)
            let ending = try rig.run("unplug")
            let lines = ending.lines(of: "unplug")
            #expect(lines.count { $0.contains("was unplugged") } == cycles)
            // The camera that hangs at the end may be silent for so long that this is reported, and its end too.
            let silences = lines.count { $0.contains("no new picture") }
            #expect(silences <= 1 && lines.count { $0.contains("640x480 MJPG") } == cycles + 1 + silences)

            #expect(ending.facts["meanwhile"] != ending.facts["first"], "it came back as another /dev/videoN")
            let held = ending.files["held", default: ""].split(separator: "\n")
                .map { $0.split(separator: " ").compactMap { Int($0) } }
            try #require(held.count == cycles && held.allSatisfy { $0.count == 2 }, "\(held)")
            #expect(held[cycles - 1][0] == held[1][0], "descriptors after two cycles, and after the last one")
            // A leak takes memory in each third of the cycles. What is loaded or allocated once, which can happen late
            // on a busy machine, is in one of them.
            let kilobytes = stride(from: 1, to: cycles, by: (cycles - 2) / 3).map { held[$0][1] }
            let growths = zip(kilobytes.dropFirst(), kilobytes).map { $0 - $1 }
            #expect(growths.count == 3 && growths.contains { $0 < 1024 / 3 }, "\(kilobytes) kB")
            // The decoder's largest buffers, with which it began to read some frames, took 6 MB.
            #expect(growths.reduce(0, +) < 8 * 1024, "\(kilobytes) kB")
            #expect(try ending.isbns(of: "unplug", "captured") == [Self.first])
        }

        @Test func `that is busy, forbidden or frozen is reported as such, and its controls are restored`() throws {
            // The camera that freezes shows no code: an ISBN that is read at the very end is a line of its own.
            let rig = Rig(cameras: [
                "uvc:webcam-640x480.jpg:640x480:10:MJPG", "loopback:no-code-table.jpg:640x480:10:GREY",
            ])
            let ending = try rig.run("trouble")

            let busy = ending.lines(of: "busy")
            #expect(busy.count >= 2 && busy[0].contains("in use by \(ending.facts["other", default: "?"])"))
            // The other program may end just before it would be named again.
            #expect(busy.count <= 3 && busy.dropLast().allSatisfy { $0.contains("in use by") })
            #expect(busy.last?.contains("640x480 MJPG") == true)
            #expect(try ending.isbns(of: "busy", "captured") == [Self.first])
            let second = ending.lines(of: "second").first
            #expect(second?.contains("in use by \(ending.facts["first", default: "?"])") == true)
            let frozen = ending.lines(of: "frozen")
            #expect(frozen.map { $0.contains("no new picture") } == [false, true, false], "\(frozen)")
            let denied = ending.lines(of: "denied").first
            #expect(denied?.contains("group 'video'") == true && denied?.contains("udev/70-bookplate.rules") == true)

            let left = "power_line_frequency: 0 focus_automatic_continuous: 0 exposure_dynamic_framerate: 1 "
            #expect(ending.facts["controls-before"] == left)
            #expect(
                ending.facts["controls-during"]
                    == "power_line_frequency: 1 focus_automatic_continuous: 1 exposure_dynamic_framerate: 0 ")
            #expect(ending.facts["controls-after"] == left, "after SIGTERM")
            #expect(ending.facts["controls-after-interrupt"] == left, "after Control-C")
        }

        @Test func `whose driver reports errors is restarted, and each error is reported once`() throws {
            let ending = try Rig(cameras: ["vivid"]).run("injected")
            let streaming = "vivid: 320x180 GREY, 10 fps"
            // VIDIOC_DQBUF or VIDIOC_QBUF: after a fatal error, the driver refuses whichever comes first.
            let (fatal, gone) = ("QBUF: Input/output error", "was unplugged")
            let reports: [(name: String, lines: [String])] = [
                ("fatal", [streaming, fatal, streaming]),
                ("streamon", [streaming, fatal, "VIDIOC_STREAMON: Invalid argument", streaming]),
                ("reqbufs", [streaming, fatal, "VIDIOC_REQBUFS: Invalid argument", streaming]),
                ("qbuf", [streaming, "VIDIOC_QBUF: Invalid argument", streaming, gone, streaming]),
            ]
            for (name, expected) in reports {
                let lines = ending.lines(of: name)
                // If the driver is bound again under a waiting program, it needs one or two attempts.
                let isEnd = lines.count == expected.count || name == "qbuf" && lines.count > expected.count
                let matches = isEnd && zip(lines, expected).allSatisfy { $0.contains($1) }
                #expect(matches, "\(name): \(lines)")
            }
        }
    }
}

import Testing

extension CameraRig {
    @Suite(.enabled(if: Rig.isReady, Rig.reason)) struct `The udev rule` {
        @Test func `links the first USB camera for the group and the user at the screen, whenever it is plugged in`()
            throws
        {
            let rig = Rig(
                cameras: ["uvc:frontal.jpg:640x480:5:MJPG", "vivid", "uvc:glare.jpg:640x480:5:MJPG"], hasUdev: true)
            let facts = try rig.run("udev").facts

            #expect(facts["link"].map { "/dev/\($0)" } == facts["camera"])
            #expect(facts["index"] == "0")
            #expect(facts["access"] == "660 root video")
            let tags = Set(facts["tags", default: ""].split(separator: ":"))
            #expect(tags.isSuperset(of: ["uaccess", "systemd"]))
            for other in ["links-of-vivid", "links-of-metadata"] {
                let links = try #require(facts[other])
                #expect(links.contains("v4l/by-path") && !links.contains("bookplate"))
            }

            #expect(facts["second-alone"].map { "/dev/\($0)" } == facts["second"])
            #expect(facts["after-return"].map { "/dev/\($0)" } == facts["returned"])
            #expect(facts["unplugged"] == "")
        }
    }
}

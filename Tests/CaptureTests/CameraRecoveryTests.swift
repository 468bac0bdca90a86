import Bookplate
import Foundation
import TestTools
import Testing

@testable import Capture

/// The longest time without a report that the screen may have to wait. While frames come, the loop reports a state
/// every second.
private let longestPause: Duration = .milliseconds(1101)

@Test func `without a camera it says what to do, and uses one that is connected`() throws {
    let camera = ScriptedCamera()
    camera.isPlugged = false
    let host = ScriptedHost([camera])
    host.at(5.5) { camera.isPlugged = true }
    let record = host.run(for: 10)
    #expect(record.kinds == ["starting", "noCamera", "streaming 64x48 GREY", "ended"])
    #expect(record.states[2].time <= 5.5 + 3)
    let text = try #require(record.error(.noCamera)).text
    #expect(text.contains("Plug one in") && text.contains("rpicam-vid"))
    #expect(record.longestSilence <= longestPause)
    #expect(host.openNodes == 0)
}

struct Return: CustomTestStringConvertible {
    var requested: String?
    var path = "/dev/video0"
    var byID: String? = "/dev/v4l/by-id/usb-maker_model_1"
    var testDescription: String { "\(requested ?? "any") comes back as \(path), \(byID ?? "no by-id")" }
}

@Test(arguments: [
    Return(), Return(path: "/dev/video2"), Return(path: "/dev/video2", byID: nil), Return(requested: "/dev/video0"),
    Return(requested: "/dev/video0", path: "/dev/video2"), Return(requested: "/dev/bookplate", path: "/dev/video2"),
    Return(requested: "script"), Return(requested: "script", path: "/dev/video2"),
    Return(requested: "/dev/v4l/by-id/usb-maker_model_1", path: "/dev/video2"),
])
func `an unplugged camera is reported at once, and used again under any number`(_ case: Return) throws {
    let camera = ScriptedCamera(byID: `case`.byID)
    let host = ScriptedHost([camera])
    host.links["/dev/bookplate"] = "/dev/video0"
    host.at(5) { camera.isPlugged = false }
    host.at(25.3) {
        camera.device.path = `case`.path
        host.links["/dev/bookplate"] = nil
        camera.isPlugged = true
    }
    var settings = CaptureSettings()
    settings.device = `case`.requested
    let record = host.run(for: 40, settings)
    #expect(record.kinds == ["starting", "streaming 64x48 GREY", "unplugged", "streaming 64x48 GREY", "ended"])
    #expect(try #require(record.error(.unplugged)).time <= 5 + 2)
    #expect(record.states[3].time <= 25.3 + 3)
    #expect(camera.times("open").count == camera.times("close").count)
    #expect(record.longestSilence <= longestPause)
}

@Test func `another camera is not used while the last one may come back`() {
    let shelf = ScriptedCamera(path: "/dev/video0", name: "Shelf", byID: "shelf")
    let lid = ScriptedCamera(path: "/dev/video1", name: "Lid", byID: "lid")
    let host = ScriptedHost([shelf, lid])
    host.at(5) { shelf.isPlugged = false }
    host.at(9) { shelf.isPlugged = true }
    host.at(20) { shelf.isPlugged = false }
    _ = host.run(for: 60)
    #expect(lid.times("open").map { $0 >= .seconds(1030) } == [true])
}

@Test func `five hundred pulled cables leave nothing open`() {
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    for cycle in 0..<500 {
        host.at(Double(cycle) * 10 + 5) { camera.isPlugged = false }
        host.at(Double(cycle) * 10 + 8) {
            camera.device.path = "/dev/video\(cycle % 7)"
            camera.isPlugged = true
        }
    }
    let record = host.run(for: 5010, keepsFrames: false)
    #expect(host.openNodes == 0)
    #expect(camera.times("open").count == 501)
    #expect(record.counts.restarts == 500)
    #expect(record.kinds.count { $0 == "unplugged" } == 500)
    #expect(record.kinds.count { $0.hasPrefix("streaming") } == 501)
}

@Test(arguments: ["VIDIOC_S_FMT", "VIDIOC_REQBUFS", "VIDIOC_STREAMON"])
func `a busy camera names its holder and is tried again with growing pauses`(_ call: String) throws {
    let camera = ScriptedCamera()
    camera.failures[call] = .failed(call, errno: .resourceBusy)
    let host = ScriptedHost([camera])
    host.holder = "zoom (process 1234)"
    host.at(50) { camera.failures = [:] }
    let record = host.run(for: 70)
    #expect(record.kinds == ["starting", "busy", "streaming 64x48 GREY", "ended"])
    #expect(try #require(record.error(.busy)).text.contains("zoom (process 1234)"))
    let opens = camera.times("open")
    let pauses = zip(opens, opens.dropFirst()).map { (($1 - $0) / .seconds(1)).rounded() }
    #expect(pauses == [1, 2, 4, 8, 10, 10, 10, 10])
    #expect(record.longestSilence <= longestPause)
    #expect(host.openNodes == 0)
}

@Test func `a holder that cannot be seen is another program`() throws {
    let camera = ScriptedCamera()
    camera.failures["VIDIOC_S_FMT"] = .failed("VIDIOC_S_FMT", errno: .resourceBusy)
    let record = ScriptedHost([camera]).run(for: 5)
    #expect(try #require(record.error(.busy)).text.contains("another program"))
}

@Test func `a node that may not be opened names the group and the rule`() throws {
    let camera = ScriptedCamera()
    camera.error = .denied(path: "/dev/video0")
    let host = ScriptedHost([camera])
    host.at(4.5) { camera.error = nil }
    let record = host.run(for: 8)
    #expect(record.kinds == ["starting", "denied", "streaming 64x48 GREY", "ended"])
    let text = try #require(record.error(.denied)).text
    #expect(text.contains("'video'") && text.contains("udev/70-bookplate.rules"))
}

@Test(arguments: [
    (NodeError.codec, "noCamera"), (.metadata, "noCamera"), (.noFormat(["RGB3"]), "unusable"),
    (.libraryMissing("no such file"), "unusable"), (.busy, "busy"),
    (.failing(.failed("open", errno: .operationNotSupportedByDevice)), "noCamera"),
    (.failing(.failed("VIDIOC_QUERYCAP", errno: .ioError)), "failing"),
])
func `nodes that are not cameras are ignored, and reported if there is nothing else`(
    _ error: NodeError, _ kind: String
) {
    let other = ScriptedCamera(path: "/dev/video0", name: "Other")
    other.error = error
    let alone = ScriptedHost([other]).run(for: 3)
    #expect(alone.kinds == ["starting", kind, "ended"])
    if case .libraryMissing = error {
        #expect(alone.error(.unusable)?.text.contains("apt-get install libv4l-0") == true)
    }
    let beside = ScriptedHost([other, ScriptedCamera(path: "/dev/video10")]).run(for: 3)
    #expect(beside.kinds == ["starting", "streaming 64x48 GREY", "ended"])
    #expect(other.log.isEmpty)
}

@Test func `a silent camera is restarted, reopened and reported as frozen after ten seconds`() throws {
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    let frames = camera.frames
    host.at(20) { camera.frames = { _ in nil } }
    host.at(120) { camera.frames = frames }
    let record = host.run(for: 150)
    #expect(record.kinds == ["starting", "streaming 64x48 GREY", "frozen", "streaming 64x48 GREY", "ended"])
    let frozen = try #require(record.error(.frozen)).time
    #expect(frozen >= 30 && frozen <= 31.1)
    #expect(record.states[3].time <= 120 + 10 + 3)
    let starts = camera.times("VIDIOC_STREAMON")
    let opens = camera.times("open")
    // The first retry uses the same descriptor, the second a new one; none follows within a second.
    #expect(starts.count >= 3 && starts[1] < opens[1] && starts[1] >= .seconds(1023))
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
    #expect(record.longestSilence <= longestPause)
}

@Test func `input errors restart the stream, then reopen the device, never in a tight loop`() {
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    host.at(5) { camera.failures["VIDIOC_DQBUF"] = .failed("VIDIOC_DQBUF", errno: .ioError) }
    host.at(65) { camera.failures = [:] }
    let record = host.run(for: 90)
    #expect(record.kinds == ["starting", "streaming 64x48 GREY", "failing", "streaming 64x48 GREY", "ended"])
    #expect(record.error(.failing)?.text.contains("VIDIOC_DQBUF: Input/output error (errno 5)") == true)
    let starts = camera.times("VIDIOC_STREAMON")
    #expect(starts.count <= 13)
    #expect(camera.times("open").count < starts.count)
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
    #expect(host.openNodes == 0)
}

@Test func `a still scene is no error as long as the driver counts frames`() {
    let camera = ScriptedCamera()
    camera.frames = { _ in ScriptedFrame(bytes: [UInt8](repeating: 7, count: 64 * 48)) }
    #expect(ScriptedHost([camera]).run(for: 60).kinds == ["starting", "streaming 64x48 GREY", "ended"])
}

@Test func `the same frame for ten seconds is reported as frozen`() throws {
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    let frames = camera.frames
    host.at(5) { camera.frames = { _ in ScriptedFrame(bytes: [UInt8](repeating: 7, count: 64 * 48), sequence: 50) } }
    host.at(25) { camera.frames = frames }
    let record = host.run(for: 40)
    let frozen = try #require(record.error(.frozen)).time
    #expect(frozen >= 15 && frozen <= 16.1)
    #expect(record.kinds.suffix(2) == ["streaming 64x48 GREY", "ended"])
}

@Test func `a driver that delivers an unreadable format is reported and retried`() {
    let camera = ScriptedCamera()
    camera.given = PictureFormat(pixelFormat: 0x3352_4742, width: 64, height: 48, bytesPerLine: 192, sizeImage: 9216)
    let host = ScriptedHost([camera])
    let record = host.run(for: 20)
    #expect(record.kinds == ["starting", "unusable", "ended"])
    #expect(record.error(.unusable)?.text.contains("BGR3") == true)
    #expect(host.openNodes == 0)
}

@Test func `controls are set if the camera has them, and restored on every exit`() {
    // focus_automatic_continuous, power_line_frequency, exposure_dynamic_framerate as v4l2-ctl --list-ctrls numbers
    // them.
    let ids: [UInt32] = [0x009A_090C, 0x0098_0918, 0x009A_0903]
    let old = [ids[0]: Int32(0), ids[1]: 2, ids[2]: 1]
    let camera = ScriptedCamera()
    camera.controls = old
    let host = ScriptedHost([camera])
    var seen: [UInt32: Int32] = [:]
    host.at(2) { seen = camera.controls }
    host.at(3) { camera.failures["VIDIOC_DQBUF"] = .failed("VIDIOC_DQBUF", errno: .ioError) }
    host.at(5.5) { camera.failures = [:] }
    _ = host.run(for: 20)
    #expect(seen == [ids[0]: 1, ids[1]: 3, ids[2]: 0])
    #expect(camera.controls == old)
}

/// The camera is unplugged at various times during pauses that have grown to ten seconds. It is away for 0.4 or 2.5
/// seconds.
@Test(arguments: stride(from: 60.2, to: 76, by: 1.7).flatMap { at in [0.4, 2.5].map { (at, $0) } })
func `a camera unplugged and back during a long pause is used within three seconds`(_ time: Double, _ away: Double)
    throws
{
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    let frames = camera.frames
    host.at(5) { camera.failures["VIDIOC_DQBUF"] = .failed("VIDIOC_DQBUF", errno: .ioError) }
    host.at(time) { camera.isPlugged = false }
    host.at(time + away) { (camera.isPlugged, camera.failures, camera.frames) = (true, [:], frames) }
    let record = host.run(for: 90)
    let last = try #require(record.states.last { if case .streaming = $0.state { true } else { false } })
    #expect(last.time >= time && last.time <= time + away + 3)
    #expect(record.longestSilence <= longestPause)
    #expect(host.openNodes == 0)
}

@Test func `a node that is always ready and has no picture is polled with pauses`() {
    let camera = ScriptedCamera()
    let host = ScriptedHost([camera])
    host.at(5) { camera.isAlwaysReady = true }
    _ = host.run(for: 8)
    #expect(camera.times("VIDIOC_DQBUF").count { $0 >= .seconds(1005) } <= 310)
}

@Test(.timeLimit(.minutes(minutes(5))))
func `stop ends a real wait at once, from another thread`() async {
    var settings = CaptureSettings()
    settings.device = "/dev/there-is-no-such-camera"
    let camera = V4L2Camera(settings)
    let (states, continuation) = AsyncStream.makeStream(of: CameraState.self)
    let thread = Thread {
        camera.run(state: { continuation.yield($0) }, frame: { _ in })
        continuation.finish()
    }
    thread.start()
    var last: CameraState?
    for await state in states {
        if case .failed(let error) = state {
            #expect(error.kind == .noCamera)
            camera.stop()
        }
        last = state
    }
    #expect(last == .ended)
}

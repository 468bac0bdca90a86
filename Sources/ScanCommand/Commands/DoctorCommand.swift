import ArgumentParser
import Bookplate
import Capture
import Foundation

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look at camera, library, sources and clock, and say what to do.",
        discussion: """
            Looks through the camera for some seconds: hold the back of a book up to
            it. Nothing is captured or saved. The library is opened as every command
            opens it, which brings one of an earlier version up to date.

              scan doctor
              scan doctor --seconds 30    while the camera is being placed
              scan doctor --json          {"check","state","fact","next"}

            Exit codes: 0 a book could be scanned now, 69 not.
            """)

    @OptionGroup var camera: CameraOptions

    @Option(help: ArgumentHelp("How long to look through the camera.", valueName: "number"))
    var seconds = 5

    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds takes 1 to 3600.") }
    }

    func run() async throws {
        var report = DoctorReport(json: output.json)
        async let surroundings = DoctorFindings(places: places).look()
        report.add(DeviceChecks.ofThisMachine().all, under: "Camera")
        let sight = try await lookThroughCamera(askedFor())
        report.add(CameraChecks(sight: sight).all)
        let found = await surroundings
        report.add(found.library, under: "Library")
        report.add(found.metadata, under: "Metadata")
        report.add(station(found), under: "Station")
        try report.end()
    }

    /// Settings that make no sense are told by a check of their own.
    private func askedFor() -> CaptureSettings {
        do { return try camera.captureSettings(places.settings()) } catch { return CaptureSettings() }
    }

    private func lookThroughCamera(_ settings: CaptureSettings) async throws -> CameraSight {
        let look = CameraLook(source: V4L2Camera(settings), asked: settings, duration: .seconds(seconds))
        defer { Output.shared.status("") }
        Interrupts.onEnd { look.leave() }
        Interrupts.handle {
            Output.shared.status("")
            return nil
        }
        return try await look.run { glance, sight in Output.shared.status(CameraSight.line(glance, sight)) }
    }

    private func station(_ found: DoctorFindings.Findings) -> [Check] {
        let environment = ProcessInfo.processInfo.environment
        return [
            StationChecks.scanners(ScannerDevice.all()),
            StationChecks.sound(player: Sounds(isMuted: false, ring: {}).playerPath),
            ClockCheck.check(now: Date(), leads: found.clockLeads),
            StationChecks.terminal(
                size: Output.shared.isTerminal ? terminalSize() : nil, hasColour: Output.shared.style.isOn,
                locale: StationChecks.locale(environment)),
        ]
    }
}

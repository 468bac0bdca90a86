import ArgumentParser
import Bookplate
import Capture
import Foundation
import Processes
import Terminal

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the camera, library, sources and clock, and give advice.",
        discussion: """
            Watches the camera for some seconds. Meanwhile, hold the back of a book up
            to it. Nothing is captured or saved. As with other commands, a library from
            an earlier version is upgraded when it is opened.

              scan doctor
              scan doctor --seconds 30    while you position the camera
              scan doctor --json          keys: check, state, fact, next

            Exit codes: 0 if a book could be scanned now, 69 if not.
            """)

    @OptionGroup var camera: CameraOptions

    @Option(help: ArgumentHelp("The number of seconds for which to watch the camera.", valueName: "number"))
    var seconds = 5

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds must be a number from 1 to 3600.") }
    }

    func run() async throws {
        var report = DoctorReport(json: output.json)
        async let found = DoctorFindings(paths: paths).gather()
        report.add(DeviceChecks.ofThisMachine().all, under: "Camera")
        let camera = try await watchCamera(captureSettings())
        report.add(CameraChecks(findings: camera).all)
        let findings = await found
        report.add(findings.library, under: "Library")
        report.add(findings.metadata, under: "Metadata")
        report.add(station(findings), under: "Station")
        try report.end()
    }

    /// Returns the settings with which to open the camera. A separate check reports invalid settings.
    private func captureSettings() -> CaptureSettings {
        do { return try camera.captureSettings(paths.settings()) } catch { return CaptureSettings() }
    }

    private func watchCamera(_ settings: CaptureSettings) async throws -> CameraFindings {
        let probe = CameraProbe(
            source: V4L2Camera(settings), requested: settings, duration: .seconds(seconds))
        defer { Output.shared.showStatus("") }
        Interrupts.onEnd { probe.leave() }
        Interrupts.handle {
            Output.shared.showStatus("")
            return nil
        }
        return try await probe.run { snapshot, findings in Output.shared.showStatus(findings.line(snapshot)) }
    }

    private func station(_ findings: DoctorFindings.Findings) -> [Check] {
        let environment = ProcessInfo.processInfo.environment
        return [
            StationChecks.scanners(ScannerDevice.all()),
            StationChecks.sound(player: Sounds(isMuted: false, ring: {}).playerPath),
            StationChecks.confinement(.ofThisKernel),
            ClockCheck.check(now: Date(), leads: findings.clockLeads),
            StationChecks.terminal(
                size: Output.shared.isTerminal ? terminalSize() : nil, hasColour: Output.shared.style.isOn,
                locale: StationChecks.locale(environment)),
        ]
    }
}

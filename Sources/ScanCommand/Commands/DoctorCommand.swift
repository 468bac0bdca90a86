import ArgumentParser
import Bookplate
import Capture
import Foundation

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check camera, library, sources and clock, and advise what to do.",
        discussion: """
            Watches the camera for some seconds: hold the back of a book up to it.
            Nothing is captured or saved. The library is opened as by any command,
            which upgrades a library of an earlier version.

              scan doctor
              scan doctor --seconds 30    while you position the camera
              scan doctor --json          {"check","state","fact","next"}

            Exit codes: 0 a book could be scanned now, 69 not.
            """)

    @OptionGroup var camera: CameraOptions

    @Option(help: ArgumentHelp("How long to watch the camera, in seconds.", valueName: "number"))
    var seconds = 5

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds takes 1 to 3600.") }
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

    /// Returns the settings to open the camera with. Invalid settings are reported by a check of their own.
    private func captureSettings() -> CaptureSettings {
        do { return try camera.captureSettings(paths.settings()) } catch { return CaptureSettings() }
    }

    private func watchCamera(_ settings: CaptureSettings) async throws -> CameraFindings {
        let probe = CameraProbe(
            source: V4L2Camera(settings), requested: settings, duration: .seconds(seconds))
        defer { Output.shared.status("") }
        Interrupts.onEnd { probe.leave() }
        Interrupts.handle {
            Output.shared.status("")
            return nil
        }
        return try await probe.run { snapshot, findings in Output.shared.status(findings.line(snapshot)) }
    }

    private func station(_ findings: DoctorFindings.Findings) -> [Check] {
        let environment = ProcessInfo.processInfo.environment
        return [
            StationChecks.scanners(ScannerDevice.all()),
            StationChecks.sound(player: Sounds(isMuted: false, ring: {}).playerPath),
            ClockCheck.check(now: Date(), leads: findings.clockLeads),
            StationChecks.terminal(
                size: Output.shared.isTerminal ? terminalSize() : nil, hasColour: Output.shared.style.isOn,
                locale: StationChecks.locale(environment)),
        ]
    }
}

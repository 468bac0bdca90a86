import Glibc

/// What is tried; each takes any bytes and ends the process where something is wrong.
enum Target: String, CaseIterable {
    /// Lines of grey levels before zbar's C code.
    case lines
    /// Files before TurboJPEG, libpng and libwebp, and what a camera or a stream sends.
    case photo
    /// Frames and photos of codes before all of our own decoder.
    case frames

    /// As `BOOKPLATE_FUZZ` says. libFuzzer has the command line.
    static let chosen: Target = {
        guard let name = getenv("BOOKPLATE_FUZZ"), let target = Target(rawValue: String(cString: name)) else {
            fatalError("BOOKPLATE_FUZZ is one of \(allCases.map(\.rawValue))")
        }
        return target
    }()

    func run(_ bytes: [UInt8]) {
        switch self {
        case .lines: runLines(bytes)
        case .photo: runPhoto(bytes)
        case .frames: runFrames(bytes)
        }
    }
}

/// Called by libFuzzer once: writes the seeds and ends where `BOOKPLATE_FUZZ_SEEDS` names a folder for them.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> Int32 {
    if let folder = getenv("BOOKPLATE_FUZZ_SEEDS") {
        for (number, seed) in seeds(of: .chosen).enumerated() {
            guard write(seed, to: "\(String(cString: folder))/seed-\(number)") else {
                fatalError("cannot write to \(String(cString: folder))")
            }
        }
        exit(0)
    }
    return 0
}

private func write(_ bytes: [UInt8], to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
}

/// Called by libFuzzer with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    // A copy of just this size: what reads beyond it is caught.
    Target.chosen.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

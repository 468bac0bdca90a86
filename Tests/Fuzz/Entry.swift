import Glibc

/// The code under test. Each target accepts any bytes and ends the process if something is wrong.
enum Target: String, CaseIterable {
    /// Lines of grey levels, read by zbar's C code.
    case lines
    /// Files, read by TurboJPEG, libpng and libwebp, and as frames of a camera or a stream.
    case photo
    /// Frames and photos of codes, read by our whole decoder.
    case frames
    /// Answers of catalogues in XML and JSON, read with libxml2 and by our own code.
    case records
    /// Queries, read by the parser of the query language.
    case queries

    /// The target named by `BOOKPLATE_FUZZ`; libFuzzer owns the command line.
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
        case .records: runRecords(bytes)
        case .queries: runQueries(bytes)
        }
    }
}

/// Called once by libFuzzer: writes the seeds and exits if `BOOKPLATE_FUZZ_SEEDS` names a folder for them.
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
    // A copy of exactly this size, so that reads beyond it are detected.
    Target.chosen.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

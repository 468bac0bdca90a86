import CProcess
import Foundation

/// What a process that reads a stranger's photo may take. It sets them itself, before it looks at the first byte.
enum PhotoChildLimits {
    /// Bytes of memory: a picture of 50 megapixels in all its colours, twice.
    static let memory: rlim_t = 1 << 30
    /// Seconds of the processor.
    static let processor: rlim_t = 20
    /// Seconds from its start to its end.
    static let patience: Duration = .seconds(25)

    /// - Throws: ``Complaint`` when one cannot be set: then nothing is read.
    static func apply() throws {
        // No file grows, no core is written, few descriptors (libheif and its libraries take some to be loaded), and what could be
        // run has no more rights.
        let limits: [(__rlimit_resource, rlim_t)] = [
            (RLIMIT_AS, memory), (RLIMIT_CPU, processor), (RLIMIT_NOFILE, 24), (RLIMIT_FSIZE, 0), (RLIMIT_CORE, 0),
        ]
        for (resource, value) in limits {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { throw failed("setrlimit") }
        }
        guard cprocess_allow_no_new_privileges() == 0, cprocess_end_with_parent() == 0 else { throw failed("prctl") }
    }

    private static func failed(_ call: String) -> Complaint {
        Complaint(.inputOutput, "\(call): \(String(cString: strerror(errno))). No photo is read without limits.")
    }
}

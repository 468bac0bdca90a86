import Foundation

/// A new folder that is deleted with the object.
public final class Scratch: Sendable {
    public let path: String

    public init() throws {
        path = NSTemporaryDirectory() + "bookplate-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("could not delete \(path): \(error)") }
    }

    public func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }
}

import Glibc
import Testing

@testable import FaultServer

/// The web server that the tests of lookups and covers use.
@Suite struct FaultServerTests {
    @Test func `keeps its port after it was stopped, so that no other server can get it`() throws {
        let server = try FaultServer()
        server.stop()
        let port = try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in(loopbackPort: port)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == -1)
        #expect(errno == EADDRINUSE)
    }
}

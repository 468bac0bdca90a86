// swift-tools-version: 6.1
import PackageDescription

// The dependencies between modules: every module may import Bookplate, the domain; no adapter imports another adapter;
// ScanCommand imports all of them and wires them together. HTTP, Cryptography, Processes and SystemCalls are not
// adapters, but tools of adapters, such as those that send requests or call the kernel. Tests/ArchitectureTests checks
// this table.

let domain: Target.Dependency = "Bookplate"
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

// Modules that process pixels are optimised even in a debug build, which would need seconds per photo otherwise.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "bookplate",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "scan", targets: ["ScanCommand"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Without its traits, because neither its configuration files nor its templates are used.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        // Packages that Hummingbird uses and exposes: sockets, logging, and an orderly shutdown.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Descriptors, error numbers and calls that a signal interrupts.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .target(name: "Bookplate"),

        // Linked from its archive. The shared library would load eighteen other libraries (X11, D-Bus, video), none of
        // which is used, and would delay every start by 3 ms.
        .systemLibrary(name: "CZBar", providers: [.apt(["libzbar-dev"])]),
        // Not linked, but opened at the first request (see its shim.h). A pkgConfig would add -lcurl.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CHeif"),
        // Not linked either: libv4l2 is opened together with the first camera.
        .systemLibrary(name: "CV4L2", providers: [.apt(["libv4l-dev"])]),
        .systemLibrary(name: "CInput"),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        // Restrictions that a process puts on itself.
        .systemLibrary(name: "CProcess"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // One function that GRDB does not offer. GRDB links the library.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // Linked from its archive too: 20 kB instead of a library to load.
        .systemLibrary(name: "CSHA2", providers: [.apt(["libmd-dev"])]),
        // Not linked, but opened with the first certificate.
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        // Not linked either: libxml2, whose reader parses XML from strangers, is opened with the first answer in XML.
        .systemLibrary(name: "CXML"),

        .target(
            name: "Capture",
            dependencies: [domain, system, "SystemCalls", "CTurboJPEG", "CPNG", "CWebP", "CHeif", "CV4L2", "CInput"],
            swiftSettings: optimized),
        .target(
            name: "Decoder", dependencies: [domain, "CZBar"], swiftSettings: optimized,
            linkerSettings: [.linkedLibrary(":libzbar.a")]),
        // Functions that swift-system lacks: replacing a file completely, poll(), and repeating interrupted calls.
        .target(name: "SystemCalls", dependencies: [system]),
        .target(name: "Processes", dependencies: [system, "SystemCalls", "CProcess"]),
        .target(name: "PrintedText", dependencies: [domain, "Processes"], swiftSettings: optimized),
        .target(name: "HTTP", dependencies: [domain, "CCurl"]),
        // Hashes, certificates and TLS, for the modules that need them.
        .target(
            name: "Cryptography", dependencies: ["COpenSSL", "CSHA2"], linkerSettings: [.linkedLibrary(":libmd.a")]),
        .target(name: "Certificates", dependencies: [domain, "SystemCalls", system, "Cryptography"]),
        .target(name: "Lookup", dependencies: [domain, "SystemCalls", "HTTP", "CZlib", "CXML", grdb, system]),
        .target(name: "Hub", dependencies: [domain, "SystemCalls", "HTTP"]),
        .target(
            name: "Library",
            dependencies: [domain, "Async", "SystemCalls", "Cryptography", grdb, system, "CCrypt", "CSQLite"]),
        .target(name: "Exchange", dependencies: [domain]),
        // Tools with which tasks of several modules wait: bursts, a semaphore, a time limit.
        .target(name: "Async"),
        .target(name: "Station", dependencies: [domain, "Async"]),
        .target(
            name: "Terminal",
            dependencies: [
                domain, "Async", "Station", system, "SystemCalls", "Processes",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ]),
        .target(
            name: "Kiosk",
            dependencies: [
                domain, "Async", "Station", "Cryptography", "CZlib", "CQREncode",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Web")]),
        .executableTarget(
            name: "ScanCommand",
            dependencies: [
                domain, "Async", "Capture", "Certificates", "Decoder", "PrintedText", "Processes", "Lookup", "Library",
                "Exchange", "Station", "Terminal", "Kiosk", "Hub", "CProcess", system, "SystemCalls",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // A web server with the faults that a test requests, for the tests of Lookup and of the commands.
        .target(name: "FaultServer", dependencies: ["CZlib"], path: "Tests/FaultServer"),
        // zbar as other programs use it, for the two decoding benches, which script/bench starts.
        .target(name: "ZBarPeer", dependencies: ["CZBar"], path: "Tests/ZBarPeer"),
        .executableTarget(
            name: "FrameBench", dependencies: [domain, "Capture", "Decoder", "ZBarPeer", "CTurboJPEG"],
            path: "Tests/FrameBench", exclude: ["count-allocations.c"]),
        // Generates codes as cameras see them, each from a number; for tests and benches.
        .target(
            name: "CodeMaker", dependencies: [domain, "TestTools"], path: "Tests/CodeMaker", swiftSettings: optimized),
        .executableTarget(
            name: "DecodeBench", dependencies: [domain, "Capture", "Decoder", "CodeMaker", "ZBarPeer"],
            path: "Tests/DecodeBench", exclude: ["count-instructions.c"]),
        .testTarget(name: "BookplateTests", dependencies: [domain, "TestTools"]),
        .testTarget(
            name: "CaptureTests",
            dependencies: [
                domain, "Capture", "CodeMaker", "CTurboJPEG", "CPNG", "CWebP", "TestTools", "CInput", system,
            ]),
        .testTarget(
            name: "DecoderTests", dependencies: [domain, "Decoder", "CodeMaker", "TestTools"], swiftSettings: optimized),
        .testTarget(name: "PrintedTextTests", dependencies: [domain, "Capture", "PrintedText", "TestTools"]),
        // Tools that the tests of several modules use.
        .target(name: "TestTools", path: "Tests/TestTools"),
        .testTarget(
            name: "LookupTests",
            dependencies: [domain, "Async", "HTTP", "Lookup", "FaultServer", "TestTools", "CZlib", grdb],
            exclude: ["Fixtures"]),
        // Builds and asks an offline index; started by script/bench.
        .executableTarget(name: "IndexBench", dependencies: [domain, "Lookup"], path: "Tests/IndexBench"),
        .testTarget(name: "SystemCallsTests", dependencies: ["SystemCalls", "TestTools", system]),
        // Confines itself and tries to break out, for ProcessesTests.
        .executableTarget(name: "ConfinementProbe", dependencies: ["Processes"], path: "Tests/ConfinementProbe"),
        .testTarget(name: "ProcessesTests", dependencies: ["Processes", "ConfinementProbe"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "FaultServer", "TestTools"]),
        .testTarget(
            name: "CertificatesTests",
            dependencies: [domain, "Certificates", "Cryptography", "SystemCalls", "TestTools"],
            exclude: ["EarlierAuthority"]),
        // Generates libraries of any size, each from a number; for tests and benches.
        .target(
            name: "LibraryMaker", dependencies: [domain, "Library", "TestTools", grdb], path: "Tests/LibraryMaker"),
        // Compares the library's speed with plain SQLite; started by script/bench.
        .executableTarget(
            name: "LibraryBench", dependencies: [domain, "Library", "Exchange", "LibraryMaker", grdb],
            path: "Tests/LibraryBench"),
        .testTarget(
            name: "LibraryTests", dependencies: [domain, "SystemCalls", "Library", "LibraryMaker", "TestTools", grdb],
            exclude: ["OldLibraries"]),
        .testTarget(name: "ExchangeTests", dependencies: [domain, "Exchange", "Library", "TestTools"]),
        .testTarget(name: "StationTests", dependencies: [domain, "Async", "Station", "Library", "TestTools"]),
        .testTarget(
            name: "TerminalTests", dependencies: [domain, "Async", "Station", "Terminal", "Library", "TestTools"]),
        .testTarget(
            name: "HubTests",
            dependencies: [
                domain, "Async", "Certificates", "Hub", "HTTP", "Station", "SystemCalls", "Library", "Kiosk",
                "ScanCommand",
                "FaultServer", "TestTools",
                .product(name: "Logging", package: "swift-log"), grdb,
            ]),
        .testTarget(
            name: "KioskTests",
            dependencies: [
                domain, "Async", "Certificates", "Cryptography", "COpenSSL", "Kiosk", "Processes", "Station",
                "Library", "LibraryMaker", "TestTools", "ZBarPeer",
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            // The client of its tests for TLS.
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .testTarget(
            name: "ScanCommandTests",
            dependencies: [
                domain, "Async", "Capture", "PrintedText", "Processes", "Lookup", "Library", "LibraryMaker", "Exchange",
                "Station", "Terminal", "Kiosk", "ScanCommand", "FaultServer", "Hub", "TestTools", "SystemCalls",
                grdb,
            ]),
        // Tests the whole program under work, faults and kills. Like BrowserTests, it starts the program.
        .testTarget(
            name: "SoakTests", dependencies: ["ScanCommand", "CodeMaker", "FaultServer", "LibraryMaker", "TestTools"]),
        .testTarget(
            name: "PackagingTests", dependencies: [domain, "Library", "ScanCommand", "TestTools"], exclude: ["machine"]),
        // Cuts the power and makes the disk fail, and looks at what the program leaves.
        .testTarget(
            name: "DurabilityTests",
            dependencies: [domain, "Library", "Hub", "ScanCommand", "FaultServer", "TestTools", grdb],
            exclude: ["recorder.c"], swiftSettings: optimized),
        .testTarget(name: "CameraRig", dependencies: ["TestTools"], exclude: ["rig", "guest"]),
        // Tests the pages in a real browser. It depends on ScanCommand because it starts the program.
        .testTarget(
            name: "BrowserTests",
            dependencies: ["Async", "ScanCommand", "HTTP", "FaultServer", "LibraryMaker", "TestTools"]),
        // Compares the program for arm64 with the one for this machine.
        .testTarget(name: "Arm64Tests", dependencies: ["ScanCommand", "DecodeBench", "TestTools"]),
        .testTarget(name: "ArchitectureTests", exclude: ["features.md"]),
    ],
    swiftLanguageModes: [.v6]
)

// The build of script/test: a release build whose internal declarations the tests can see. Of our own modules, it
// optimises those that process pixels, and the domain, which folds and sorts the texts of large libraries. Optimising
// Library made its tests no faster. In a debug build, ArgumentParser checks every option several times at each start of
// the program, which took nine tenths of the start.
if Context.environment["BOOKPLATE_TEST_BUILD"] != nil {
    for target in package.targets where target.type != .system {
        let isOptimized = target.swiftSettings != nil || target.name == "Bookplate"
        let flags = isOptimized ? [] : ["-Onone"]
        target.swiftSettings = [.unsafeFlags(flags + ["-enable-testing"])]
    }
}

// For `script/test MODULE...`, keep only the tests of these modules and the targets that the tests depend on.
if let modules = Context.environment["BOOKPLATE_ONLY"] {
    var needed: Set<String> = []
    var names = modules.split(separator: " ").map { "\($0)Tests" }
    while let name = names.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name })
        else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { names.append(dependency) }
    }
    // The tests of the commands start the program.
    if !needed.contains("ScanCommand") { package.products = [] }
    package.targets.removeAll { !needed.contains($0.name) }
}

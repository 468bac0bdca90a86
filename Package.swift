// swift-tools-version: 6.1
import PackageDescription

// The arrows between modules: every module may know Bookplate, the domain; no adapter knows another;
// ScanCommand wires them. Tests/ArchitectureTests pins this table.

let domain: Target.Dependency = "Bookplate"
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

// Pixels in a debug build: without the optimiser a photo takes seconds, and so would every test that reads one.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "bookplate",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "scan", targets: ["ScanCommand"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Bookplate"),

        // Linked from its archive: of the shared library's eighteen others (X11, D-Bus, video) none is used, and loading them
        // costs every start 3 ms.
        .systemLibrary(name: "CZBar", providers: [.apt(["libzbar-dev"])]),
        // Not linked: opened at the first request (see its shim.h), so there is no pkgConfig that would add -lcurl.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CHeif"),
        // Not linked either: libv4l2 is opened when a camera is.
        .systemLibrary(name: "CV4L2", providers: [.apt(["libv4l-dev"])]),
        .systemLibrary(name: "CInput"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .target(
            name: "Capture", dependencies: [domain, "CTurboJPEG", "CPNG", "CWebP", "CHeif", "CV4L2", "CInput"],
            swiftSettings: optimized),
        .target(
            name: "Decoder", dependencies: [domain, "CZBar"], swiftSettings: optimized,
            linkerSettings: [.linkedLibrary(":libzbar.a")]),
        .target(name: "Lookup", dependencies: [domain, "CCurl", "CZlib", grdb]),
        .target(name: "Library", dependencies: [domain, grdb]),
        .target(name: "Exchange", dependencies: [domain]),
        .target(name: "Station", dependencies: [domain]),
        .executableTarget(
            name: "ScanCommand",
            dependencies: [
                domain, "Capture", "Decoder", "Lookup", "Library", "Exchange", "Station",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // A web server that misbehaves as told; for tests of Lookup and of the commands.
        .target(name: "FaultServer", dependencies: ["CZlib"], path: "Tests/FaultServer"),
        // Live decoding beside its peer; started by script/bench.
        .executableTarget(
            name: "FrameBench", dependencies: [domain, "Capture", "Decoder", "CZBar", "CTurboJPEG"],
            path: "Tests/FrameBench", exclude: ["count-allocations.c"]),
        .testTarget(name: "BookplateTests", dependencies: [domain]),
        .testTarget(name: "CaptureTests", dependencies: [domain, "Capture", "CTurboJPEG", "CPNG", "CWebP", "CInput"]),
        .testTarget(name: "DecoderTests", dependencies: [domain, "Decoder"]),
        .testTarget(
            name: "LookupTests", dependencies: [domain, "Lookup", "FaultServer", "CZlib", grdb], exclude: ["Fixtures"]),
        // A library of any size, made from a number; for tests and for the bench.
        .target(name: "LibraryMaker", dependencies: [domain, "Library", grdb], path: "Tests/LibraryMaker"),
        // The library's speed beside plain SQLite; started by script/bench.
        .executableTarget(
            name: "LibraryBench", dependencies: [domain, "Library", "Exchange", "LibraryMaker", grdb],
            path: "Tests/LibraryBench"),
        .testTarget(name: "LibraryTests", dependencies: [domain, "Library", "LibraryMaker", grdb]),
        .testTarget(name: "ExchangeTests", dependencies: [domain, "Exchange", "Library"]),
        .testTarget(name: "StationTests", dependencies: [domain, "Station", "Library"]),
        .testTarget(
            name: "ScanCommandTests",
            dependencies: [
                domain, "Capture", "Lookup", "Library", "LibraryMaker", "Exchange", "Station", "ScanCommand",
                "FaultServer",
                grdb,
            ]),
        .testTarget(name: "CameraRig", exclude: ["rig", "guest"]),
        .testTarget(name: "ArchitectureTests"),
    ],
    swiftLanguageModes: [.v6]
)

import Bookplate
import Foundation
import Glibc
import SystemPackage
import TestTools
import Testing

@testable import Capture

/// Runs a test in a temporary folder.
private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/bookplate-photos-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}

private func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
}

private func error(_ body: () throws -> Void) -> PhotoError? {
    do { try body() } catch { return error as? PhotoError }
    return nil
}

private let jpeg = try! Frame(width: 64, height: 48).jpeg(quality: 80, name: "")

/// Returns a JPEG whose frame header (SOF0) declares another size.
private func jpegDeclaring(width: Int, height: Int) -> [UInt8] {
    resized(jpeg, startOfFrame: 0xC0, width: width, height: height)
}

/// Returns a JPEG with another size in its frame header.
private func resized(_ jpeg: [UInt8], startOfFrame: UInt8, width: Int, height: Int) -> [UInt8] {
    var bytes = jpeg
    let at = bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == startOfFrame }! + 5
    bytes.replaceSubrange(at..<(at + 4), with: [height >> 8, height & 255, width >> 8, width & 255].map(UInt8.init))
    return bytes
}

@Test(arguments: [(65_500, 65_500), (12_001, 10), (10, 12_001), (9_000, 9_000)])
func `refuses a picture that is too large, by its header alone`(_ width: Int, _ height: Int) {
    let expected = PhotoError.tooManyPixels(photo: "bomb", width: width, height: height)
    #expect(error { _ = try PhotoFile(bytes: jpegDeclaring(width: width, height: height), name: "bomb") } == expected)
    let png = PNGWriter(width: width, height: height).bytes(row: { _ in [] }).prefix(64)
    #expect(error { _ = try PhotoFile(bytes: Array(png), name: "bomb") } == expected)
    #expect(expected.description.contains("the limits are 50 megapixels and 12000 pixels per side"))
}

@Test func `estimates from the header how much memory a photo takes`() {
    let pixels = 8000 * 6250
    let grey = PhotoMemory.estimate(jpegDeclaring(width: 8000, height: 6250))
    #expect(grey == pixels)
    // The coefficients of three components take two bytes each, and two of the components may be smaller.
    let progressive = PhotoMemory.estimate(
        resized(Fixture.progressiveJPEG, startOfFrame: 0xC2, width: 8000, height: 6250))
    #expect(progressive.map { (4 * pixels...7 * pixels + pixels / 100).contains($0) } == true)
    #expect(
        PhotoMemory.estimate(resized(Fixture.cmykJPEG, startOfFrame: 0xC0, width: 4000, height: 3000)) == 60_000_000)
    #expect(PhotoMemory.estimate(PNGWriter(width: 4000, height: 3000).bytes(row: { _ in [] })) == 60_000_000)
    for webp in [Fixture.webP, Fixture.losslessWebPWithAlpha] {
        #expect(PhotoMemory.estimate(webp) == 8 * 48 * 32)
    }
}

@Test func `estimates nothing if the header does not say it`() {
    #expect(PhotoMemory.estimate(Fixture.heic) == nil)
    #expect(PhotoMemory.estimate([]) == nil && PhotoMemory.estimate(Array("<svg/>".utf8)) == nil)
    // No beginning of a photo leads astray.
    for photo in [Fixture.progressiveJPEG, Fixture.cmykJPEG, Fixture.webP, Fixture.losslessWebPWithAlpha] {
        for count in 0..<32 { #expect(PhotoMemory.estimate(Array(photo.prefix(count))).map { $0 < 100_000 } != false) }
    }
    let endless: [UInt8] = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 1 << 20)
    #expect(PhotoMemory.estimate(endless) == nil)
}

@Test func `refuses a progressive JPEG of more than a hundred scans`() throws {
    let bytes = Fixture.progressiveJPEG
    let scan = try #require(bytes.indices.last { $0 + 1 < bytes.count && bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    let last = Array(bytes[scan..<(bytes.count - 2)])
    let many = bytes[..<scan] + Array(repeatElement(last, count: 101).joined()) + [0xFF, 0xD9]
    #expect(error { _ = try PhotoFile(bytes: Array(many), name: "slow") } == .tooManyScans(photo: "slow", limit: 100))
    #expect(throws: Never.self) { try PhotoFile(bytes: bytes, name: "ordinary") }
}

@Test(.disabled(if: isEmulated, "QEMU does not limit the memory of the program, but its own"))
func `says that memory has run out, and not that the photo is damaged`() async {
    // In a process of its own, because the limit holds for all threads.
    await #expect(processExitsWith: .success) {
        // libjpeg-turbo keeps all coefficients of a progressive picture, which takes 98 MB here.
        let jpeg = resized(Fixture.progressiveJPEG, startOfFrame: 0xC2, width: 7000, height: 7000)
        let photo = try PhotoFile(bytes: jpeg, name: "a.jpg")
        var used = 0
        if let pages = readTextFile("/proc/self/statm", atMost: 64).split(separator: " ").first {
            used = Int(pages)! * sysconf(Int32(_SC_PAGESIZE))
        }
        var limit = rlimit(rlim_cur: rlim_t(used + 40 << 20), rlim_max: rlim_t(used + 40 << 20))
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { exit(2) }
        guard case .outOfMemory = error({ _ = try photo.luma(atLeast: 100) }) else { exit(1) }
    }
}

@Test func `refuses anything that is not a file, by name`() throws {
    try withFolder { folder in
        let fifo = folder + "/pipe.jpg"
        #expect(mkfifo(fifo, 0o600) == 0)
        let empty = folder + "/empty.jpg"
        try write([], to: empty)
        let cases: [(String, PhotoError)] = [
            (folder, .notAFile(photo: folder, kind: .folder)), (fifo, .notAFile(photo: fifo, kind: .pipe)),
            ("/dev/zero", .notAFile(photo: "/dev/zero", kind: .device)), (empty, .empty(photo: empty)),
            (folder + "/none.jpg", .cannotOpen(photo: folder + "/none.jpg", errno: .noSuchFileOrDirectory)),
        ]
        for (path, expected) in cases { #expect(error { _ = try PhotoFile(path: path) } == expected) }
    }
}

@Test func `refuses a socket, a file above 32 MiB and one that may not be read`() throws {
    try withFolder { folder in
        let path = folder + "/s"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        #expect(error { _ = try PhotoFile(path: path) } == .notAFile(photo: path, kind: .socket))

        let large = folder + "/large.jpg"
        try write(jpeg, to: large)
        #expect(truncate(large, off_t(PhotoLimit.bytes + 1)) == 0)
        #expect(error { _ = try PhotoFile(path: large) } == .fileTooLarge(photo: large, limit: PhotoLimit.bytes))

        let locked = folder + "/locked.jpg"
        try write(jpeg, to: locked)
        chmod(locked, 0)
        // The superuser may read every file.
        if geteuid() != 0 {
            #expect(error { _ = try PhotoFile(path: locked) } == .cannotOpen(photo: locked, errno: .permissionDenied))
        }
    }
}

@Test func `stops reading an endless stream at the limit`() {
    let zero = open("/dev/zero", O_RDONLY)
    defer { close(zero) }
    #expect(
        error { _ = try PhotoFile(descriptor: zero, name: "standard input") }
            == .fileTooLarge(photo: "standard input", limit: PhotoLimit.bytes))
}

@Test func `reads a photo from a pipe`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    #expect(Glibc.write(ends[1], jpeg, jpeg.count) == jpeg.count)
    close(ends[1])
    defer { close(ends[0]) }
    let photo = try PhotoFile(descriptor: ends[0], name: "standard input")
    #expect((photo.width, photo.height) == (64, 48))
}

private let otherFormats: [([UInt8], String?)] = [
    (Array("GIF89a......".utf8), "a GIF"), (Array("%PDF-1.7....".utf8), "a PDF"),
    (Array("II*\0........".utf8), "a TIFF"),
    (Array("hello, world".utf8), nil), ([0xFF], nil), ([0xFF, 0xD8], nil), (Array("RIFF....WAVE".utf8), nil),
]

@Test(arguments: otherFormats)
func `reports the format of a file that is not a photo`(_ bytes: [UInt8], _ looksLike: String?) {
    #expect(error { _ = try PhotoFile(bytes: bytes, name: "x") } == .unknownFormat(photo: "x", looksLike: looksLike))
}

@Test func `refuses an animation`() {
    #expect(
        error { _ = try PhotoFile(bytes: Fixture.animatedWebP, name: "x") }
            == .unsupported(photo: "x", what: "it is an animation"))
}

private let whole: [(String, [UInt8])] = [
    ("JPEG", jpeg), ("progressive JPEG", Fixture.progressiveJPEG), ("CMYK JPEG", Fixture.cmykJPEG),
    ("WebP", Fixture.webP),
    ("lossless WebP", Fixture.losslessWebPWithAlpha), ("HEIC", Fixture.heic),
    ("PNG", PNGWriter(width: 9, height: 40, colourType: 2).bytes { _ in [UInt8](repeating: 7, count: 27) }),
]

@Test(arguments: whole)
func `a photo cut at any byte is damaged or refused, never complete`(_ kind: String, _ bytes: [UInt8]) {
    // The last bytes of each format are an end marker or a checksum.
    for count in 0..<(bytes.count - 16) {
        let failure = error {
            let photo = try PhotoFile(bytes: Array(bytes[..<count]), name: kind)
            let frame = try photo.luma(longSide: 1000)
            #expect((frame.width, frame.height) == (photo.width, photo.height))
            #expect(photo.isDamaged, "\(count) of \(bytes.count) bytes")
        }
        if let failure { #expect(failure.photo == kind) }
    }
}

@Test(arguments: whole)
func `a photo with any byte changed is read, damaged or refused`(_ kind: String, _ bytes: [UInt8]) {
    for at in bytes.indices {
        for change in [0xFF, 0x01, 0x80] as [UInt8] {
            var wrong = bytes
            wrong[at] ^= change
            _ = error {
                let frame = try PhotoFile(bytes: wrong, name: kind).luma(longSide: 64)
                #expect(max(frame.width, frame.height) <= 64)
            }
        }
    }
}

@Test func `lists a folder in order, without hidden names, loops, pipes and other files`() throws {
    try withFolder { folder in
        for name in ["b", "a", "a/.hidden", "a/deep"] { mkdir(folder + "/" + name, 0o700) }
        for name in [
            "z.JPG", "a/2.png", "a/deep/3.webp", "b/1.heic", "b/notes.txt", "a/.hidden/4.jpg", ".5.jpg", "jpg",
        ] {
            try write([1], to: folder + "/" + name)
        }
        symlink("..", folder + "/b/loop")
        symlink("../z.JPG", folder + "/b/link.jpeg")
        symlink("nowhere", folder + "/b/broken.jpg")
        mkfifo(folder + "/b/pipe.jpg", 0o600)
        let found = try PhotoFolder(below: FilePath(folder + "/"))
        #expect(
            found.photos.map { String($0.string.dropFirst(folder.count + 1)) } == [
                "a/2.png", "a/deep/3.webp", "b/1.heic", "b/link.jpeg", "z.JPG",
            ])
        #expect(found.problems.isEmpty)
        #expect(PhotoFolder.isFolder(FilePath(folder)))
        #expect(!PhotoFolder.isFolder(FilePath(folder + "/z.JPG")))
        #expect(
            error { _ = try PhotoFolder(below: FilePath(folder + "/none")) }
                == .cannotOpen(photo: folder + "/none", errno: .noSuchFileOrDirectory))
    }
}

@Test func `finds and opens photos whose names are not UTF-8`() throws {
    try withFolder { folder in
        /// Renames a file or folder to a name of any bytes.
        func rename(_ name: String, to bytes: [UInt8]) {
            let path = Array((folder + "/").utf8) + bytes + [0]
            #expect(Glibc.rename(folder + "/" + name, path.map { CChar(truncatingIfNeeded: $0) }) == 0)
        }
        mkdir(folder + "/photos", 0o700)
        // Both names are shown as the same text. The order is that of the bytes.
        try write(Frame(width: 32, height: 16).jpeg(quality: 80, name: ""), to: folder + "/wide")
        rename("wide", to: Array("photos/".utf8) + [0xFF] + Array(".jpg".utf8))
        try write(jpeg, to: folder + "/other")
        rename("other", to: Array("photos/".utf8) + [0xFE] + Array(".JPG".utf8))
        rename("photos", to: [0x61, 0xFF])

        let found = try PhotoFolder(below: FilePath(folder))
        #expect(found.photos.map(\.string) == ["JPG", "jpg"].map { folder + "/a\u{FFFD}/\u{FFFD}.\($0)" })
        #expect(found.problems.isEmpty)
        let photos = try found.photos.map { try PhotoFile(path: $0, name: $0.string) }
        #expect(photos.map(\.width) == [64, 32])
        #expect(photos.map(\.name) == found.photos.map(\.string))
    }
}

private let messages: [(PhotoError, String)] = [
    (
        .cannotOpen(photo: "a.jpg", errno: .permissionDenied),
        "cannot open a.jpg: permission denied. Make it readable for this account (chmod +r)."
    ),
    (
        .cannotOpen(photo: "a.jpg", errno: .noSuchFileOrDirectory),
        "cannot open a.jpg: there is no such file. Check the name."
    ),
    (.empty(photo: "a.jpg"), "a.jpg is empty (0 bytes). Copy it again from its source."),
    (
        .unknownFormat(photo: "a.jpg", looksLike: "a GIF"),
        "a.jpg is a GIF, which Bookplate cannot read. Convert it to JPEG, PNG, WebP or HEIC."
    ),
    (
        .outOfMemory(photo: "a.jpg"),
        "cannot decode a.jpg: out of memory. Close other programs and try again."
    ),
    (
        .fileTooLarge(photo: "a.jpg", limit: 32 << 20),
        "a.jpg is larger than 32 MiB, the limit for a photo. Save a smaller version, or save it as JPEG."
    ),
]

@Test(arguments: messages)
func `says what happened, where, and what to do`(_ error: PhotoError, _ text: String) {
    #expect(error.description == text)
}

import Bookplate
import Testing

@testable import Capture

/// Returns a frame like the fixtures: the left third dark, the rest light.
private func twoTone(width: Int = 48, height: Int = 32) -> Frame {
    var frame = Frame(width: width, height: height)
    frame.withMutableLuma { luma in
        for index in luma.indices { luma[index] = index % width < width / 3 ? 20 : 230 }
    }
    return frame
}

/// Returns the grey levels in the middle of the dark and of the light part.
private func tones(_ frame: Frame) -> (dark: Int, light: Int) {
    let row = frame.height / 2 * frame.bytesPerLine
    return (Int(frame.luma[row + frame.width / 6]), Int(frame.luma[row + frame.width * 5 / 6]))
}

private func isTwoTone(_ frame: Frame) -> Bool {
    let (dark, light) = tones(frame)
    return (0...45).contains(dark) && (205...255).contains(light)
}

private func row48(_ dark: [UInt8], _ light: [UInt8]) -> [UInt8] { (0..<48).flatMap { $0 < 16 ? dark : light } }

private let pngs: [(String, [UInt8])] = [
    ("grey", PNGWriter(width: 48, height: 32).bytes { _ in row48([20], [230]) }),
    ("RGB", PNGWriter(width: 48, height: 32, colourType: 2).bytes { _ in row48([20, 20, 20], [230, 230, 230]) }),
    (
        "palette",
        PNGWriter(width: 48, height: 32, colourType: 3, palette: [20, 20, 20, 230, 230, 230]).bytes { _ in
            row48([0], [1])
        }
    ),
    ("1 bit", PNGWriter(width: 48, height: 32, bitDepth: 1).bytes { _ in [0, 0, 255, 255, 255, 255] }),
    ("16 bit", PNGWriter(width: 48, height: 32, bitDepth: 16).bytes { _ in row48([20, 0], [230, 0]) }),
    ("transparent", PNGWriter(width: 48, height: 32, colourType: 4).bytes { _ in row48([20, 255], [0, 0]) }),
]

@Test(arguments: pngs)
func `reads every kind of PNG, transparent parts as white paper`(_ kind: String, _ bytes: [UInt8]) throws {
    let photo = try PhotoFile(bytes: bytes, name: kind)
    #expect(photo.format == .png)
    #expect((photo.width, photo.height) == (48, 32))
    #expect(isTwoTone(try photo.luma(longSide: 48)))
    #expect(!photo.isDamaged)
}

private let others: [(String, PhotoFormat, [UInt8])] = [
    ("CMYK", .jpeg, Fixture.cmykJPEG), ("progressive", .jpeg, Fixture.progressiveJPEG), ("lossy", .webp, Fixture.webP),
    ("lossless with alpha", .webp, Fixture.losslessWebPWithAlpha),
]

@Test(arguments: others)
func `reads JPEG and WebP of every colour`(_ kind: String, _ format: PhotoFormat, _ bytes: [UInt8]) throws {
    let photo = try PhotoFile(bytes: bytes, name: kind)
    #expect(photo.format == format)
    #expect((photo.width, photo.height) == (48, 32))
    #expect(isTwoTone(try photo.luma(longSide: 48)))
    #expect(!photo.isDamaged)
}

@Test func `reads HEIC if libheif is installed, else says what to install`() throws {
    if Libheif.installed == nil {
        #expect(throws: PhotoError.needsLibheif(photo: "a.heic")) { try PhotoFile(bytes: Fixture.heic, name: "a.heic") }
    } else {
        let photo = try PhotoFile(bytes: Fixture.heic, name: "a.heic")
        #expect((photo.width, photo.height) == (96, 64))
        #expect(isTwoTone(try photo.luma(longSide: 96)))
    }
    #expect(throws: PhotoError.needsLibheif(photo: "a.heic")) {
        try HEICImage(Fixture.heic, name: "a.heic", libheif: Libheif(library: "libheif.so.none"))
    }
    #expect(PhotoError.needsLibheif(photo: "a.heic").description.contains("apt-get install libheif1"))
}

@Test(arguments: [40, 100, 333, 640, 999, 1000, 4000])
func `returns the requested long side, never enlarged`(_ longSide: Int) throws {
    let photo = try PhotoFile(bytes: twoTone(width: 1000, height: 600).jpeg(quality: 90, name: ""), name: "")
    let frame = try photo.luma(longSide: longSide)
    #expect(frame.width == min(longSide, 1000))
    #expect(abs(Double(frame.height) - Double(frame.width) * 0.6) <= 1)
    #expect(isTwoTone(frame))
}

@Test func `averages, so that a fine grid becomes grey`() {
    var frame = Frame(width: 900, height: 600, bytesPerLine: 901)
    frame.withMutableLuma { luma in for index in luma.indices { luma[index] = index % 901 % 2 == 0 ? 200 : 100 } }
    let small = frame.areaAveraged(longSide: 127)
    #expect((small.width, small.height) == (127, 85))
    #expect(small.luma.allSatisfy { (144...156).contains($0) })
}

@Test func `recognises the format by the bytes, whatever the name says`() throws {
    #expect(try PhotoFile(bytes: Fixture.webP, name: "cover.jpg").format == .webp)
}

private let orientations = (1...8).map(UInt8.init)

@Test(arguments: orientations)
func `finds the orientation in JPEG, PNG and WebP, in both byte orders`(_ value: UInt8) throws {
    let expected = Orientation(rawValue: Int(value))
    let jpeg = try twoTone().jpeg(quality: 80, name: "")
    for bigEndian in [true, false] {
        let block = exifBlock(orientation: value, bigEndian: bigEndian)
        #expect(try PhotoFile(bytes: withEXIF(jpeg, block), name: "").orientation == expected)
        let png = PNGWriter(width: 48, height: 32, exif: block).bytes { _ in row48([20], [230]) }
        #expect(try PhotoFile(bytes: png, name: "").orientation == expected)
    }
}

@Test func `ignores broken EXIF, cut at any byte and with wild offsets`() throws {
    let block = exifBlock(orientation: 6)
    for length in 0..<20 { #expect(EXIF.orientation(in: block[..<length]) == .up) }
    for (at, value) in [(4, 255), (8, 255), (19, 9), (19, 0), (13, 4), (2, 1), (0, 0x58)] as [(Int, UInt8)] {
        var wild = block
        wild[at] = value
        let orientation = EXIF.orientation(in: wild[...])
        #expect(orientation == .up || (at == 8 && orientation == .right))
    }
}

@Test(arguments: orientations)
func `turns pixels as it turns points`(_ value: UInt8) throws {
    let orientation = try #require(Orientation(rawValue: Int(value)))
    var frame = Frame(width: 5, height: 3)
    frame.withMutableLuma { $0[1 * 5 + 4] = 99 }
    let upright = frame.turned(by: orientation)
    #expect((upright.width, upright.height) == orientation.uprightSize(width: 5, height: 3))
    let point = orientation.upright(Point(x: 4.5, y: 1.5), width: 5, height: 3)
    #expect(upright.luma[Int(point.y) * upright.width + Int(point.x)] == 99)
}

@Test func `makes an upright thumbnail of the photo, and of a code's surroundings`() throws {
    let jpeg = try twoTone(width: 1000, height: 600).jpeg(quality: 80, name: "")
    let photo = try PhotoFile(bytes: withEXIF(jpeg, exifBlock(orientation: 6)), name: "")
    let whole = try PhotoFile(bytes: photo.thumbnail(), name: "thumbnail")
    #expect((whole.width, whole.height) == (192, 320))
    let code = Corners(
        topLeft: Point(x: 100, y: 800), topRight: Point(x: 200, y: 800), bottomRight: Point(x: 200, y: 860),
        bottomLeft: Point(x: 100, y: 860))
    let part = try PhotoFile(bytes: photo.thumbnail(around: code), name: "thumbnail")
    #expect((part.width, part.height) == (300, 300))
    #expect(Int(try part.luma(longSide: 320).luma[150 * 300 + 150]) > 200)
}

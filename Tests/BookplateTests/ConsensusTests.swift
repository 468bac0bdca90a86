import Bookplate
import Testing

private let dune = "9780441013593"
private let emma = "9780141439587"
/// A misreading of the first payload, with a correct check digit.
private let misread = "9780447013531"
private let soap = "4006381333931"

/// A camera of 30 frames a second with a manual clock.
private struct View {
    private var consensus = Consensus()
    private var time: Duration = .seconds(100)
    private(set) var believed: [String] = []
    private(set) var addons: [String?] = []
    /// The times of the captures, in milliseconds since the beginning.
    private(set) var moments: [Int] = []

    mutating func show(
        _ codes: [(payload: String, at: Point)], unread: [Point] = [], frames: Int = 1, every milliseconds: Int = 33,
        addon: String? = nil, certain: [String] = []
    ) {
        for _ in 0..<frames {
            var reading = FrameResult()
            reading.symbols = codes.map {
                Symbol(payload: $0.payload, addon: addon, quality: 2, corners: box(at: $0.at))
            }
            reading.unread = unread.map { box(at: $0) }
            reading.certain = certain
            var news: [Symbol] = []
            consensus.update(with: reading, at: time, believed: &news)
            believed += news.map(\.payload)
            addons += news.map(\.addon)
            moments += news.map { _ in Int((time - .seconds(100)) / .milliseconds(1)) }
            time += .milliseconds(milliseconds)
        }
    }

    mutating func show(_ payload: String, frames: Int = 1, every milliseconds: Int = 33) {
        show([(payload, centre)], frames: frames, every: milliseconds)
    }

    mutating func showNothing(for milliseconds: Int) { show([], frames: milliseconds / 10, every: 10) }
    mutating func pass(_ duration: Duration) { time += duration }
}

private let centre = Point(x: 640, y: 360)

/// A code 200 pixels long and 120 high.
private func box(at point: Point) -> Corners {
    Corners(
        topLeft: Point(x: point.x - 100, y: point.y - 60), topRight: Point(x: point.x + 100, y: point.y - 60),
        bottomRight: Point(x: point.x + 100, y: point.y + 60), bottomLeft: Point(x: point.x - 100, y: point.y + 60))
}

@Suite struct `A code in several frames` {
    @Test func `counts with the third agreeing frame and not before`() {
        var view = View()
        view.show(dune, frames: 2)
        #expect(view.believed == [])
        view.show(dune)
        #expect(view.believed == [dune])
        #expect(view.moments == [66])
    }

    @Test func `counts at once if the decoder is certain of it`() {
        var view = View()
        view.show([(dune, centre)], certain: [dune])
        #expect(view.believed == [dune])
        view.show([(dune, centre)], frames: 10, certain: [dune])
        #expect(view.believed == [dune])
    }

    @Test func `does not count, even if certain, while something else is read in its place`() {
        var view = View()
        view.show([(dune, centre), (misread, Point(x: 650, y: 370))], frames: 20, certain: [dune])
        #expect(view.believed == [])
    }

    @Test func `counts once for a book held for a minute`() {
        var view = View()
        view.show(dune, frames: 1800)
        #expect(view.believed == [dune])
    }

    @Test func `counts with unread frames in between`() {
        var view = View()
        for _ in 0..<3 {
            view.show(dune)
            view.showNothing(for: 300)
        }
        #expect(view.believed == [dune])
    }

    /// Milliseconds out of view, and the number of captures of a book shown before and after.
    @Test(arguments: [(300, 1), (650, 1), (740, 2), (3000, 2)])
    func `counts again after seven tenths of a second out of view`(away: Int, captures: Int) {
        var view = View()
        view.show(dune, frames: 10)
        view.showNothing(for: away - 33)
        view.show(dune, frames: 10)
        #expect(view.believed.count == captures)
    }

    @Test func `of another book counts at once, in the same place`() {
        var view = View()
        view.show(dune, frames: 10)
        view.show(emma, frames: 10)
        #expect(view.believed == [dune, emma])
    }

    @Test func `counts once for each of two books in view`() {
        var view = View()
        let other = Point(x: 900, y: 360)
        view.show([(dune, centre), (emma, other)], frames: 100)
        #expect(view.believed.sorted() == [emma, dune])
        view.show([(dune, centre)], frames: 100)
        #expect(view.believed.count == 2)
    }

    @Test func `counts for both codes if one is printed below the other`() {
        var view = View()
        view.show([(dune, centre), ("1920193005509", Point(x: 640, y: 360 + 100))], frames: 3)
        #expect(view.believed.count == 2)
    }

    @Test func `does not count if it was misread among good frames`() {
        var view = View()
        for _ in 0..<200 {
            view.show(dune, frames: 4)
            view.show(misread)
        }
        #expect(view.believed == [dune])
    }

    @Test func `does not count while two payloads alternate in one place`() {
        var view = View()
        for _ in 0..<50 {
            view.show(dune, frames: 2)
            view.show(misread, frames: 2)
        }
        #expect(view.believed == [])
        view.show(dune, frames: 3)
        #expect(view.believed == [dune])
    }

    @Test func `does not count while two payloads are read in one place of a frame`() {
        var view = View()
        view.show([(dune, centre), (misread, Point(x: 650, y: 370))], frames: 20)
        #expect(view.believed == [])
    }

    @Test func `that is not a book is reported as such`() throws {
        var consensus = Consensus()
        var reading = FrameResult()
        reading.symbols = [Symbol(payload: soap, quality: 9, corners: box(at: centre))]
        var believed: [Symbol] = []
        for frame in 0..<3 { consensus.update(with: reading, at: .milliseconds(33 * frame), believed: &believed) }
        let symbol = try #require(believed.first)
        #expect(throws: ISBNRefusal.notABook(.ean13)) { try symbol.isbn() }
    }

    @Test func `stays in view while it is blurred in its place, until it is gone`() {
        var view = View()
        view.show(dune, frames: 5)
        view.show([], unread: [centre], frames: 60)
        view.show(dune, frames: 5)
        #expect(view.believed == [dune])
        view.show([], unread: [Point(x: 200, y: 100)], frames: 60)
        view.show(dune, frames: 5)
        #expect(view.believed == [dune, dune])
    }

    @Test func `does not stay in view for ever because of stripes in the background`() {
        var view = View()
        view.show(dune, frames: 5)
        view.show([], unread: [centre], frames: 120)
        view.show(dune, frames: 5)
        #expect(view.believed == [dune, dune])
    }

    @Test func `counts with a camera of one frame a second`() {
        var view = View()
        view.show(dune, frames: 20, every: 1000)
        #expect(view.believed == [dune])
    }

    @Test func `is forgotten if the camera was gone`() {
        var view = View()
        view.show(dune, frames: 5)
        view.pass(.seconds(10))
        view.show(dune, frames: 5)
        #expect(view.believed == [dune, dune])
    }

    /// Seconds without a frame, the place of the book afterwards, and the number of its captures.
    @Test(arguments: [(3, centre, 1), (10, centre, 2), (3, Point(x: 900, y: 360), 2)])
    func `stays in view over a stall of the camera if the book has not moved`(gap: Int, place: Point, captures: Int) {
        var view = View()
        view.show(dune, frames: 10)
        view.pass(.seconds(gap))
        view.show([(dune, place)], frames: 10)
        #expect(view.believed.count == captures)
    }

    @Test func `counts even if times stand still or go back`() {
        var view = View()
        view.show(dune, frames: 2)
        view.pass(.seconds(-3600))
        view.show(dune, frames: 100)
        #expect(view.believed == [dune])
    }

    @Test func `gets an add-on that two frames saw`() {
        var view = View()
        view.show([(dune, centre)], addon: "51299")
        view.show(dune, frames: 2)
        #expect(view.addons == [nil])
        view.pass(.seconds(10))
        view.show([(dune, centre)], frames: 2, addon: "51299")
        view.show(dune)
        #expect(view.addons == [nil, "51299"])
    }

    @Test func `is one of a bounded number followed in a picture full of codes`() {
        var view = View()
        view.show((0..<200).map { ("978\(1_000_000_000 + $0)", Point(x: Double($0) * 300, y: 0)) }, frames: 1)
        view.show((0..<20).map { ("978\(2_000_000_000 + $0)", Point(x: Double($0) * 300, y: 500)) }, frames: 3)
        #expect(view.believed.count == 20)
    }
}

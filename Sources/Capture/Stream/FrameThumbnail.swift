import Bookplate

extension Frame {
    /// A small grey JPEG of a code's surroundings, for a person to recognise the book by.
    ///
    /// - Returns: JPEG bytes, about 10 kB; `nil` when memory runs out.
    public func thumbnail(around corners: Corners, longSide: Int = 320) -> [UInt8]? {
        let area = corners.surroundings(width: width, height: height)
        let cut = cropped(x: area.x, y: area.y, width: area.width, height: area.height)
        do {
            return try cut.areaAveraged(longSide: longSide).jpeg(quality: 80, name: "frame")
        } catch {
            // The encoder fails in no other way, and a capture without a picture is worth more than none.
            return nil
        }
    }
}

extension Corners {
    /// Three times a code's length around it, about a book's cover, within a picture of that size; never empty.
    func surroundings(width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int) {
        let xs = all.map(\.x)
        let ys = all.map(\.y)
        let length = max(xs.max()! - xs.min()!, ys.max()! - ys.min()!)
        func range(_ middle: Double, _ limit: Int) -> Range<Int> {
            let low = Int(max(0, min(middle - length * 1.5, Double(limit - 1))))
            let high = Int(min(Double(limit), max(middle + length * 1.5, Double(low + 1))))
            return low..<high
        }
        let (across, down) = (range(centre.x, width), range(centre.y, height))
        return (across.lowerBound, down.lowerBound, across.count, down.count)
    }
}

import Glibc

/// The part of a text that a reader looks at: the current row and what was read ahead of it. Places in it count from its beginning,
/// and move only when ``drop(before:)`` lets go of what is done with.
struct TextWindow {
    private var chunks: TextChunks
    private(set) var bytes: [UInt8] = []
    /// Whether the text is at its end: there is no more than ``bytes``.
    private(set) var isDry = false

    init(_ chunks: TextChunks) { self.chunks = chunks }

    /// The byte at that place; `nil` at the end of the text.
    mutating func byte(_ place: Int) throws -> UInt8? {
        while place >= bytes.count { guard try fill() else { return nil } }
        return bytes[place]
    }

    /// - Returns: `nil` when `wanted` is not there before `limit` or the end of the text.
    mutating func find(_ wanted: UInt8, from place: Int, before limit: Int) throws -> Int? {
        var from = place
        while true {
            if from < bytes.count {
                let found = bytes.withUnsafeBytes { bytes -> Int? in
                    guard let base = bytes.baseAddress,
                        let match = memchr(base + from, Int32(wanted), bytes.count - from)
                    else { return nil }
                    return base.distance(to: UnsafeRawPointer(match))
                }
                if let found { return found <= limit ? found : nil }
                from = bytes.count
            }
            guard from <= limit, try fill() else { return nil }
        }
    }

    /// - Returns: the place of the first line break or `other`; the end of the text; `nil` when `limit` comes first.
    mutating func firstBreak(or other: UInt8, from place: Int, before limit: Int) throws -> Int? {
        var from = place
        while true {
            let found = bytes.withUnsafeBufferPointer { bytes -> Int? in
                var index = from
                while index < bytes.count {
                    let byte = bytes[index]
                    if byte == other || byte == lineFeed || byte == carriageReturn { return index }
                    index += 1
                }
                return nil
            }
            if let found { return found }
            from = bytes.count
            guard from <= limit else { return nil }
            guard try fill() else { return bytes.count }
        }
    }

    /// The place after the line break at `place`, of which CR LF is one.
    mutating func afterBreak(_ place: Int) throws -> Int {
        guard let first = try byte(place) else { return place }
        guard first == carriageReturn else { return place + 1 }
        return try byte(place + 1) == lineFeed ? place + 2 : place + 1
    }

    /// - Returns: whether there was more.
    mutating func fill() throws -> Bool {
        guard !isDry, let chunk = try chunks.nextChunk() else {
            isDry = true
            return false
        }
        bytes += chunk
        return true
    }

    /// Lets go of what is before `place`, which is the beginning then.
    mutating func drop(before place: Int) { bytes.removeSubrange(..<place) }
}

let lineFeed = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")

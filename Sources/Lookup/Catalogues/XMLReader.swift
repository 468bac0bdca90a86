import CXML

/// The limits for XML from catalogues. An answer with five records has at most some hundred kilobytes, in 15,000 nodes,
/// eight levels deep.
enum XMLLimit {
    /// The maximum size of an answer in bytes.
    static let bytes = 4 << 20
    /// The maximum number of elements and texts.
    static let nodes = 300_000
    /// The maximum depth of nested elements.
    static let depth = 32
    /// The maximum number of bytes from one node to the next. It bounds names, attributes, texts and comments alike,
    /// and with them the time for a single tag: libxml2 compares every attribute with every other.
    static let bytesPerNode = 128 << 10
    /// The maximum length of a name in bytes.
    static let name = 256
}

/// The reason why bytes are not acceptable as XML.
enum XMLError: Error, Equatable, CustomStringConvertible {
    case tooLarge(bytes: Int)
    /// A DOCTYPE. Records have none, web pages have one, and all attacks with entities need one.
    case documentType
    case tooDeep
    case tooManyNodes
    case oversizedPart
    /// Not well-formed, cut off, or empty.
    case malformed(line: Int)
    case outOfMemory
    /// libxml2 is not installed, or cannot be loaded.
    case noLibrary(String)

    var description: String {
        switch self {
        case .tooLarge(let bytes): "the XML has \(bytes) bytes; the limit is \(XMLLimit.bytes)"
        case .documentType: "the XML has a document type, as only web pages have"
        case .tooDeep: "the XML is nested more than \(XMLLimit.depth) levels deep"
        case .tooManyNodes: "the XML has more than \(XMLLimit.nodes) parts"
        case .oversizedPart: "a part of the XML is too long"
        case .malformed(let line): "the XML is damaged or incomplete at line \(line)"
        case .noLibrary(let cause): "libxml2 is missing (\(cause)); install the package libxml2"
        case .outOfMemory: "there was not enough memory for the XML"
        }
    }
}

/// Reads XML from an untrusted source, node by node, with libxml2's xmlTextReader. Comments and processing instructions
/// are skipped. Source: gnome.pages.gitlab.gnome.org/libxml2/html/xmlreader_8h.html.
struct XMLReader: ~Copyable {
    enum Node: Equatable {
        /// An element begins; its name is without a prefix.
        case start(String)
        case end(String)
        /// A text, or a piece of one.
        case text(String)
    }

    private let xml: UnsafePointer<cxml>
    private let reader: UnsafeMutableRawPointer
    private let source: XMLSource
    private var nodes = 0
    private var depth = 0
    private var hasRoot = false
    /// The name of an element such as `<a/>`, whose end libxml2 does not report.
    private var emptyElement: String?

    /// - Parameter bytes: the document, in UTF-8. Bytes that are not UTF-8 become U+FFFD.
    static func reading(_ bytes: [UInt8]) throws(XMLError) -> XMLReader {
        guard bytes.count <= XMLLimit.bytes else { throw .tooLarge(bytes: bytes.count) }
        let xml = try XMLLibrary.shared.get().table
        let source = XMLSource(bytes)
        guard !source.hasDocumentType else { throw .documentType }
        let reader = xml.pointee.xmlReaderForIO(
            { context, buffer, size in
                guard let context, let buffer, size >= 0 else { return -1 }
                let source = Unmanaged<XMLSource>.fromOpaque(context).takeUnretainedValue()
                return Int32(source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size))))
            }, nil, Unmanaged.passUnretained(source).toOpaque(), nil, "UTF-8", Int32(CXML_OPTIONS))
        guard let reader else { throw .outOfMemory }
        return XMLReader(xml: xml, reader: reader, source: source)
    }

    /// An initialiser that throws would end Swift 6.2.3, with which the program for arm64 is built.
    private init(xml: UnsafePointer<cxml>, reader: UnsafeMutableRawPointer, source: XMLSource) {
        (self.xml, self.reader, self.source) = (xml, reader, source)
    }

    deinit { xml.pointee.xmlFreeTextReader(reader) }

    /// - Returns: `nil` at the end of the document.
    mutating func next() throws(XMLError) -> Node? {
        if let name = emptyElement {
            emptyElement = nil
            depth -= 1
            return .end(name)
        }
        while true {
            let result = xml.pointee.xmlTextReaderRead(reader)
            source.beginNode()
            guard result == 1 else {
                // A document that is cut off between two elements counts as damaged, even if libxml2 accepts it.
                guard result == 0, hasRoot, depth == 0 else { throw failure }
                return nil
            }
            nodes += 1
            guard nodes <= XMLLimit.nodes else { throw .tooManyNodes }
            switch Int(xml.pointee.xmlTextReaderNodeType(reader)) {
            case CXML_ELEMENT:
                guard depth < XMLLimit.depth else { throw .tooDeep }
                let name = try name()
                depth += 1
                hasRoot = true
                if xml.pointee.xmlTextReaderIsEmptyElement(reader) == 1 { emptyElement = name }
                return .start(name)
            case CXML_END_ELEMENT:
                depth -= 1
                return .end(try name())
            case CXML_TEXT, CXML_CDATA, CXML_SIGNIFICANT_WHITESPACE:
                guard let value = xml.pointee.xmlTextReaderConstValue(reader) else { continue }
                return .text(String(cString: value))
            // An entity that XML does not define itself is an error, because its text is unknown.
            case CXML_ENTITY_REFERENCE: throw failure
            case CXML_DOCUMENT_TYPE: throw .documentType
            default: continue
            }
        }
    }

    /// Returns the value of an attribute of the element that has just begun; `nil` if it has no such attribute.
    func attribute(_ name: String) -> String? {
        guard xml.pointee.xmlTextReaderMoveToAttribute(reader, name) == 1 else { return nil }
        defer { _ = xml.pointee.xmlTextReaderMoveToElement(reader) }
        return xml.pointee.xmlTextReaderConstValue(reader).map { String(cString: $0) }
    }

    private func name() throws(XMLError) -> String {
        guard let name = xml.pointee.xmlTextReaderConstLocalName(reader) else { throw failure }
        let text = String(cString: name)
        guard text.utf8.count <= XMLLimit.name else { throw .oversizedPart }
        return text
    }

    private var failure: XMLError {
        source.isOversized
            ? .oversizedPart : .malformed(line: max(1, Int(xml.pointee.xmlTextReaderGetParserLineNumber(reader))))
    }
}

/// The library libxml2, which is opened when it is first used, and never closed.
///
/// `@unchecked Sendable` is safe because the table is written only once, before the `static let` publishes it, and is
/// only read afterwards.
private struct XMLLibrary: @unchecked Sendable {
    let table: UnsafePointer<cxml>

    /// The library, or the reason why it cannot be used. It is initialised by one thread before several use it.
    static let shared: Result<XMLLibrary, XMLError> = {
        let table = UnsafeMutablePointer<cxml>.allocate(capacity: 1)
        table.initialize(to: cxml())
        if let missing = cxml_open(table) { return .failure(.noLibrary(String(cString: missing))) }
        table.pointee.xmlInitParser()
        return .success(XMLLibrary(table: table))
    }()
}

/// The bytes of a document, which libxml2 requests in small pieces.
private final class XMLSource {
    private let bytes: [UInt8]
    private var position = 0
    private var nodeStart = 0
    /// True if the bytes were refused, because one node was too long.
    private(set) var isOversized = false

    init(_ bytes: [UInt8]) { self.bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }

    func beginNode() { nodeStart = position }

    /// - Returns: the number of bytes; 0 at the end, and -1 to stop the parser.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard position - nodeStart <= XMLLimit.bytesPerNode else {
            isOversized = true
            return -1
        }
        let count = min(buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }

    /// True if a DOCTYPE, in upper or lower case, precedes the first element. It is found before libxml2 sees it, so
    /// that no declaration of an entity is ever parsed.
    var hasDocumentType: Bool {
        // libxml2 reports the first node after all that precedes it, and requests at most this many bytes before.
        var rest = bytes.prefix(XMLLimit.bytesPerNode + 8192)
        func skip(through end: String) {
            let end = Array(end.utf8)
            while !rest.isEmpty, !rest.starts(with: end) { rest.removeFirst() }
            rest = rest.dropFirst(end.count)
        }
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if rest.starts(with: "<?".utf8) {
                skip(through: "?>")
            } else if rest.starts(with: "<!--".utf8) {
                rest = rest.dropFirst(4)
                skip(through: "-->")
            } else {
                return String(decoding: rest.prefix(9), as: UTF8.self).uppercased() == "<!DOCTYPE"
            }
        }
        return false
    }
}

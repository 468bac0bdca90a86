import Bookplate

/// A bibliographic record in the form of ISO 2709: MARC 21, UNIMARC and their relatives. Its texts are composed (NFC),
/// and free of the marks around articles that are ignored in sorting.
struct MarcRecord: Sendable, Equatable {
    struct Field: Sendable, Equatable {
        struct Subfield: Sendable, Equatable {
            var code: String
            var text: String
        }

        var tag: String
        var indicator1 = " "
        var indicator2 = " "
        var subfields: [Subfield] = []

        /// Returns the first subfield with this code; `nil` if there is none.
        subscript(_ code: String) -> String? { subfields.first { $0.code == code }?.text }

        /// Returns all subfields with this code.
        func all(_ code: String) -> [String] { subfields.filter { $0.code == code }.map(\.text) }
    }

    var leader = ""
    var controls: [(tag: String, text: String)] = []
    var fields: [Field] = []

    static func == (left: MarcRecord, right: MarcRecord) -> Bool {
        left.leader == right.leader && left.fields == right.fields
            && left.controls.elementsEqual(right.controls) { $0 == $1 }
    }

    /// Returns the fields with one of these tags, in the order of the record.
    func all(_ tags: String...) -> [Field] { fields.filter { tags.contains($0.tag) } }

    /// Returns the first control field with this tag; `nil` if there is none.
    func control(_ tag: String) -> String? { controls.first { $0.tag == tag }?.text }

    /// Returns a character of the leader, counted from 0 as in the manuals; a space if the leader is shorter.
    func leader(at position: Int) -> Character { leader.dropFirst(position).first ?? " " }
}

/// A catalogue's answer with MARC records in XML.
///
/// The forms are MARC21slim (loc.gov/standards/marcxml) and MarcXchange (ISO 25577), alone, in a collection, in the
/// envelope of SRU 1.1 and 1.2 (loc.gov/standards/sru) or in Poland's `<resp>`. Elements are recognised by their names
/// without prefix and namespace, because every catalogue chooses other ones. `record` occurs in the envelope and inside
/// it; only one with fields is a record.
struct MarcAnswer: Sendable {
    /// A catalogue's own statement that it could not answer, which SRU sends with status 200.
    struct Diagnostic: Sendable, Equatable {
        /// For example `info:srw/diagnostic/1/61`.
        var uri = ""
        var message = ""
        var details = ""
    }

    var records: [MarcRecord] = []
    /// The number of records that the catalogue has; `nil` if it does not give one.
    var count: Int?
    var diagnostic: Diagnostic?
    /// The name of the outermost element.
    var root = ""

    private static let roots = ["searchRetrieveResponse", "collection", "record", "resp"]

    /// - Throws: ``MarcError`` if the bytes are not XML, or are something other than records.
    init(_ bytes: [UInt8]) throws(MarcError) {
        do throws(XMLError) {
            self = try MarcParser.answer(in: bytes)
        } catch {
            throw .unreadable(error)
        }
        guard Self.roots.contains(root) else { throw .otherAnswer(root: root) }
    }

    fileprivate init() {}
}

/// The reason why bytes are not a catalogue's answer.
enum MarcError: Error, Equatable, CustomStringConvertible {
    case unreadable(XMLError)
    /// XML of another kind, such as a web page.
    case otherAnswer(root: String)

    var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .otherAnswer(let root): "the XML is \"\(root)\" instead of catalogue records"
        }
    }
}

private struct MarcParser {
    private var answer = MarcAnswer()
    private var record: MarcRecord?
    private var field: MarcRecord.Field?
    private var tag = ""
    private var code = ""
    private var text = ""
    private var isInDiagnostic = false

    static func answer(in bytes: [UInt8]) throws(XMLError) -> MarcAnswer {
        var reader = try XMLReader.reading(bytes)
        var parser = MarcParser()
        while let node = try reader.next() {
            switch node {
            case .start(let name): parser.begin(name, reader)
            case .text(let piece): parser.text += piece
            case .end(let name): parser.end(name)
            }
        }
        return parser.answer
    }

    private mutating func begin(_ name: String, _ reader: borrowing XMLReader) {
        if answer.root.isEmpty { answer.root = name }
        text = ""
        switch name {
        case "record": record = MarcRecord()
        case "controlfield": tag = reader.attribute("tag") ?? ""
        case "datafield":
            field = MarcRecord.Field(
                tag: reader.attribute("tag") ?? "", indicator1: reader.attribute("ind1") ?? " ",
                indicator2: reader.attribute("ind2") ?? " ")
        case "subfield": code = reader.attribute("code") ?? ""
        case "diagnostic":
            isInDiagnostic = true
            answer.diagnostic = answer.diagnostic ?? MarcAnswer.Diagnostic()
        default: break
        }
    }

    private mutating func end(_ name: String) {
        switch name {
        case "leader": record?.leader = text
        case "controlfield": record?.controls.append((tag, text.cleaned))
        case "subfield": field?.subfields.append(.init(code: code, text: MarcText.composed(text)))
        case "datafield":
            if let field { record?.fields.append(field) }
            field = nil
        case "record":
            if let record, !record.fields.isEmpty { answer.records.append(record) }
            record = nil
        case "numberOfRecords": answer.count = answer.count ?? Int(text.cleaned)
        case "diagnostic": isInDiagnostic = false
        case "uri" where isInDiagnostic: answer.diagnostic?.uri = text.cleaned
        case "message" where isInDiagnostic: answer.diagnostic?.message = text.cleaned
        case "details" where isInDiagnostic: answer.diagnostic?.details = text.cleaned
        default: break
        }
    }
}

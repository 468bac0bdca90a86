import Bookplate

/// Roles of contributors as catalogues write them.
///
/// Only those who made something of the book have a role: publishers, printers, honoured persons, supervisors of a
/// thesis, issuing bodies, directors and owners have none.
extension Contributor.Role {
    /// - Parameter relator: a code such as "aut" or the address of one (id.loc.gov/vocabulary/relators).
    /// - Returns: `nil` for a role that does not make anyone a contributor, and for an unknown code.
    init?(relator: String) {
        let code = relator.split(separator: "/").last.map { $0.lowercased() } ?? ""
        guard let role = Self.relators.first(where: { $0.codes.contains(Substring(code)) })?.role else { return nil }
        self = role
    }

    private static let relators: [(role: Self, codes: [Substring])] = [
        (.author, "aut cre dis jnt".split(separator: " ")),
        (.translator, ["trl"]),
        (.editor, "edt edc com red".split(separator: " ")),
        (.illustrator, "ill art drm clr".split(separator: " ")),
        (.narrator, "nrt spk".split(separator: " ")),
        // Introduction, afterword, commentary, photographs, music, and other contributions.
        (.other, "aui aft win wpr wst cwt wac ctb pht cmp arr adp lbt lyr ann bjd".split(separator: " ")),
    ]

    /// - Parameter function: a code of UNIMARC, such as "070" (UNIMARC Manual, appendix C).
    init?(function: String) {
        switch function {
        // Author, dissertant, scriptwriter.
        case "070", "305", "690": self = .author
        case "730": self = .translator
        // Editor, redactor, compiler, publishing director.
        case "340", "710", "220", "651": self = .editor
        // Illustrator, artist, colourist, draughtsman.
        case "440", "040", "410", "705": self = .illustrator
        case "550": self = .narrator
        // Preface, afterword, adaptation, annotation, commentary, contribution, photographs, music, antecedent.
        case "080", "075", "010", "020", "212", "205", "600", "230", "100", "520": self = .other
        default: return nil
        }
    }

    /// - Parameter word: a word such as "author", "Übersetzer", "éd." or "ill.", in one of several languages. The
    ///   beginning of the word decides.
    init?(word: String) {
        let word = word.lowercased().drop { !$0.isLetter }
        // An issuing body is called an editor in German.
        guard !word.hasPrefix("herausgebendes organ") else { return nil }
        guard let role = Self.words.first(where: { $0.beginnings.contains { word.hasPrefix($0) } })?.role else {
            return nil
        }
        self = role
    }

    // Each beginning is long enough not to be that of a first name, such as "Edith".
    private static let words: [(role: Self, beginnings: [String])] = [
        (
            .other,
            ["author of introduction", "author of afterword", "writer of", "mitwirk", "beiträger", "fotogr", "photogr"]
        ),
        (
            .author,
            ["author", "auteur", "autor", "verfasser", "författ", "forfatter", "kirjoitt", "creator", "joint author"]
        ),
        (
            .translator,
            [
                "translat", "trans.", "tr.", "tradu", "trad.", "übers", "översätt", "overs.", "oversett", "oversæt",
                "tłum",
                "kääntä", "překl", "vertal",
            ]
        ),
        (
            .editor,
            [
                "editor", "edited", "ed.", "éd.", "éditeur", "hrsg", "hg.", "herausg", "redak", "toimitt", "compil",
                "oprac",
            ]
        ),
        (
            .illustrator,
            ["illustr", "illus.", "ill.", "zeichner", "artist", "künstler", "kuvitt", "tecknare", "dessinat"]
        ),
        (.narrator, ["narrat", "erzähler", "sprecher", "uppläs", "lukija", "reader", "read by", "lu par"]),
    ]

    /// - Parameter word: the word behind a name in Japanese, such as "著", "翻訳" or "絵".
    init?(japanese word: String) {
        let roles: [(Self, [String])] = [
            // Comics are drawn by their authors; "漫画" also contains the character for a picture.
            (.author, ["漫画", "まんが", "マンガ", "原作"]),
            (.other, ["監修", "解説", "写真", "協力", "監訳"]),
            (.translator, ["訳"]),
            (.illustrator, ["絵", "画", "イラスト"]),
            (.narrator, ["朗読", "ナレ", "読み手"]),
            (.author, ["著", "作", "文"]),
            (.editor, ["編"]),
        ]
        guard let role = roles.first(where: { $0.1.contains { word.contains($0) } })?.0 else { return nil }
        self = role
    }
}

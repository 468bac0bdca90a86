import Bookplate
import GRDB

/// Names that begin so, with the number of their books that are not in the trash.
func suggestedNames(_ db: Database, _ kind: NameKind, _ beginning: String, _ limit: Int) throws -> [NameCount] {
    let folded = String(beginning.unicodeScalars.prefix(TextLimit.name)).cleaned.searchFolded
    let sql: String
    switch kind {
    case .author:
        sql = """
            SELECT name, (SELECT count(*) FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition
                WHERE author = author.id AND copy.deleted IS NULL) AS books, folded
            FROM author WHERE folded >= ?1 AND folded < ?2
            """
    case .tag:
        sql = """
            SELECT displayName, (SELECT count(*) FROM copyTag JOIN copy ON copy.id = copyTag.copy
                WHERE tag = tag.id AND copy.deleted IS NULL) AS books, folded
            FROM tag WHERE folded >= ?1 AND folded < ?2
            """
    case .shelf:
        sql = """
            SELECT displayName, (SELECT count(*) FROM copy WHERE shelf = shelf.id AND copy.deleted IS NULL) AS books,
                name AS folded
            FROM shelf WHERE name >= ?1 AND name < ?2
            """
    }
    // The greatest scalar stands behind every text that begins so.
    let rows = try db.rows(
        "\(sql) ORDER BY books DESC, folded LIMIT ?3", [folded, folded + "\u{10FFFF}", max(0, limit)])
    return rows.map { NameCount(name: $0[0], count: $0[1]) }
}

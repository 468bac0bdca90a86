import Bookplate
import Testing

@testable import Lookup

/// The ways in which catalogues write extents, series and names. The forms are those of ISBD and RDA, of MARC records
/// of the Library of Congress and the British Library, of the German, French, Spanish and Polish national libraries,
/// and of NDL and CiNii in Japan.
@Suite struct `What catalogues write` {
    @Test(
        arguments: [
            // English
            ("242", 242), ("242 pages", 242), ("xii, 83 p.", 83), ("272p.", 272), ("xxviii, 201 pages", 201),
            ("363 p. :", 363), ("2 v. (xxi, 1024 p.)", 1024), ("843 p., [16] p. of plates", 843), ("[32] p.", 32),
            ("24 p., [48] p. of plates", 24), ("16 unnumbered pages, 242 pages", 242), ("32 unnumbered pages", 32),
            ("[40] unpaged", 40), ("1 volume (unpaged)", nil), ("1 v. (unpaged) :", nil),
            ("1 v. (various pagings)", nil),
            ("1,024 p.", 1024), ("xvi pages, 242 pages, 8 unnumbered pages of plates", 242),
            ("1 online resource (xiv, 304 pages)", 304), ("1 electronic text (304 p.)", 304), ("152 leaves", nil),
            ("304 pages, 16 unnumbered leaves of plates", 304), ("approximately 300 pages", 300), ("83, xii p.", 83),
            ("pages cm", nil), ("p. cm.", nil), ("1 CD", nil), ("2 CDs", nil), ("1 DVD", nil), ("1 MC", nil),
            ("12 CD (16 p. booklet)", 16), ("1 sound disc + 1 booklet (24 p.)", nil), ("304 p. + 1 CD-ROM", 304),
            ("0 p.", nil), ("9999999 p.", nil), ("", nil), ("xii", nil),
            // German
            ("245 Seiten", 245), ("108 ungezählte Seiten", 108), ("XII, 304 S.", 304), ("304 S. : Ill.", 304),
            ("1 Online-Ressource (304 Seiten)", 304), ("1 Online-Ressource (XII, 304 Seiten)", 304),
            ("4, 242, [16] S.", 242), ("[24] nicht gez. S.", 24), ("[12] Bl.", nil), ("2 Bände (304, 412 Seiten)", 412),
            ("304 Seiten, 16 ungezählte Seiten Tafeln", 304), ("1 Band (verschiedene Seitenzählungen)", nil),
            ("S. 304", 304), ("ca. 300 S.", 300), ("1 Spiel (24 Karten)", nil), ("6 CDs (430 min)", nil),
            ("192 S., 48 Taf.", 192), ("304 Seiten in 2 Teilen", 304),
            // French
            ("1 vol. (534 p.)", 534), ("1 vol. (IX-534 p.)", 534), ("534-XVI p. de pl.", nil),
            ("1 vol. (534 p.-XVI p. de pl.)", 534), ("1 vol. (non paginé)", nil), ("1 vol. ([32] p.)", 32),
            ("1 vol. (32 p. non paginées)", 32), ("304 pages", 304), ("2 vol. (304, 410 p.)", 410), ("[24] f.", nil),
            // Spanish and Italian
            ("304 p. ; 22 cm", 304), ("304 págs.", 304), ("XIV, 304 páginas", 304), ("[32] páginas sin numerar", 32),
            ("[40] h.", nil), ("304 p., [8] p. de lám.", 304), ("304 p. il.", 304), ("XII, 304 pagine", 304),
            // Polish and Czech
            ("242, [6] strony ;", 242), ("304 s. : il. ; 21 cm", 304), ("304, [1] s., [16] s. tabl.", 304),
            ("[32] strony nienumerowane", 32), ("304 stron", 304), ("304 s., [16] s. obr. příl.", 304),
            ("[24] nečíslovaných stran", 24),
            // Japanese and others
            ("304p ; 19cm", 304), ("３０４ｐ ; １９ｃｍ", 304), ("304ページ", 304), ("xii, 304p 図版16p", 304), ("304頁", 304),
            ("1冊 (ページ付なし)", nil), ("2冊", nil), ("304页", 304), ("304 с.", 304), ("304 s.", 304), ("304 sivua", 304),
            ("304 blz.", 304), ("304 oldal", 304), ("304 sidor", 304),
        ] as [(String, Int?)])
    func `of the extent gives the number of pages`(_ text: String, _ expected: Int?) {
        #expect(FieldLimits.pages(inExtent: text) == expected)
    }

    @Test(
        arguments: [
            // English
            ("3", "3"), ("v. 3", "3"), ("v.1307", "1307"), ("vol. 3", "3"), ("Volume 12", "12"), ("no. 12", "12"),
            ("no.12", "12"), ("Number 5", "5"), ("bk. 2.5", "2.5"), ("Book 2", "2"), ("pt. 4", "4"), ("#12)", "12"),
            ("[2]", "2"), ("(5)", "5"), ("Vol. III", "III"), ("issue 7", "7"), ("1st", "1st"),
            ("new ser., 12", "new ser., 12"),
            ("62347 : Sachbuch", "62347"), ("12 = no. 4", "12"), ("A12", "A12"), ("v. 3-4", "3-4"), ("v. 3/4", "3/4"),
            // German
            ("Bd. 3", "3"), ("Band 3", "3"), ("Band 3.", "3"), ("Bd. 06/4400", "06/4400"), ("3. Band", "3"),
            ("3. Bd.", "3"),
            ("Band / Volume 2", "2"), ("Volume / Band 2", "2"), ("Bd./Vol. 2", "2"), ("Band 3 = Volume 3", "3"),
            ("Nr. 18", "18"), ("Heft 4", "4"), ("H. 4", "4"), ("Teil 2", "2"), ("Folge 12", "12"), ("Ausgabe 5", "5"),
            ("Buch 1", "1"), ("Band 12, 3", "12, 3"), ("Bd 7", "7"), ("13,2", "13,2"),
            // French
            ("n° 3", "3"), ("nº 3", "3"), ("numéro 3", "3"), ("tome 3", "3"), ("t. 3", "3"), ("T. II", "II"),
            ("vol. 3", "3"),
            ("livre 3", "3"), ("fasc. 3", "3"),
            // Spanish and Italian
            ("n.º 3", "3"), ("núm. 3", "3"), ("tomo 3", "3"), ("volumen 3", "3"), ("libro 3", "3"),
            ("fascicolo 4", "4"),
            ("n. 12", "12"),
            // Polish, Czech and Hungarian
            ("t. 5", "5"), ("tom 5", "5"), ("cz. 2", "2"), ("część 2", "2"), ("z. 14", "14"), ("zeszyt 14", "14"),
            ("nr 7", "7"),
            ("sv. 3", "3"), ("3. díl", "3"), ("č. 8", "8"), ("3. kötet", "3"), ("24. sz.", "24"),
            // Japanese and others
            ("第3巻", "3"), ("3巻", "3"), ("第12号", "12"), ("巻3", "3"), ("12", "12"), ("вып. 3", "3"), ("кн. 2", "2"),
            ("№ 5", "5"),
            ("del 3", "3"), ("dl. 4", "4"),
            // No number
            ("", nil), (" ; ", nil),
        ] as [(String, String?)])
    func `behind a series gives its number`(_ text: String, _ expected: String?) {
        #expect(SeriesNumber.number(in: text) == expected)
    }

    @Test(arguments: [
        // English
        ("Last, First", "First Last"), ("Garnett, Constance, 1861-1946", "Constance Garnett"),
        ("Sexton, Thomas L., 1953-", "Thomas L. Sexton"), ("Woolf, Virginia, 1882-1941.", "Virginia Woolf"),
        ("King, Martin Luther, Jr.", "Martin Luther King Jr."),
        ("Tolkien, J. R. R. (John Ronald Reuel)", "J. R. R. Tolkien"),
        ("Tolkien, J. R. R. (John Ronald Reuel), 1892-1973", "J. R. R. Tolkien"),
        ("Le Guin, Ursula K., 1929-2018", "Ursula K. Le Guin"),
        ("Smith, Adam, active 18th century", "Adam Smith"), ("Brown, John, b. 1920", "John Brown"),
        ("O'Brien, Flann", "Flann O'Brien"),
        ("Strunk, William, Jr.", "William Strunk Jr."), ("Ford, Henry, II", "Henry Ford II"), ("Homer", "Homer"),
        ("Plato.", "Plato"),
        ("Day-Lewis, Cecil", "Cecil Day-Lewis"), ("Fitz-Gerald, K.", "K. Fitz-Gerald"),
        ("FitzLyon, Kyril.", "Kyril FitzLyon"),
        ("Smith, Zadie", "Zadie Smith"), ("Du Bois, W. E. B.", "W. E. B. Du Bois"), ("McEwan, Ian", "Ian McEwan"),
        ("Carr, J. L. (James Lloyd), 1912-", "J. L. Carr"), ("Baker, Nicholson", "Nicholson Baker"),
        ("Jane Austen", "Jane Austen"),
        ("Chaucer, Geoffrey, -1400", "Geoffrey Chaucer"),
        // German
        ("Goethe, Johann Wolfgang von, 1749-1832", "Johann Wolfgang von Goethe"), ("Kästner, Erich", "Erich Kästner"),
        ("Böll, Heinrich, 1917-1985", "Heinrich Böll"), ("Droste-Hülshoff, Annette von", "Annette von Droste-Hülshoff"),
        ("Müller, Heiner, *1929", "Heiner Müller"), ("Assmann, Jan, 1938 - 2024", "Jan Assmann"),
        ("Jean Paul, 1763-1825", "Jean Paul"),
        ("Schulz, Hans-Peter", "Hans-Peter Schulz"), ("Zur Mühlen, Hermynia", "Hermynia Zur Mühlen"),
        ("Weiß, Ernst", "Ernst Weiß"),
        // French
        ("Saint-Exupéry, Antoine de, 1900-1944", "Antoine de Saint-Exupéry"),
        ("La Fontaine, Jean de", "Jean de La Fontaine"),
        ("Beauvoir, Simone de", "Simone de Beauvoir"), ("Le Clézio, J.-M. G.", "J.-M. G. Le Clézio"),
        ("Molière, 1622-1673", "Molière"),
        ("Hugo, Victor (1802-1885)", "Victor Hugo"), ("Dumas, Alexandre, père", "Alexandre Dumas"),
        // Spanish and Portuguese
        ("García Márquez, Gabriel, 1927-2014", "Gabriel García Márquez"),
        ("Cervantes Saavedra, Miguel de", "Miguel de Cervantes Saavedra"),
        ("Vargas Llosa, Mario", "Mario Vargas Llosa"),
        ("Eça de Queirós, José Maria de", "José Maria de Eça de Queirós"),
        ("Ortega y Gasset, José", "José Ortega y Gasset"), ("Pérez-Reverte, Arturo (1951-)", "Arturo Pérez-Reverte"),
        // Polish and Czech
        ("Mickiewicz, Adam (1798-1855)", "Adam Mickiewicz"), ("Tokarczuk, Olga (1962- ).", "Olga Tokarczuk"),
        ("Wydmowa, Łucja", "Łucja Wydmowa"), ("Boy-Żeleński, Tadeusz", "Tadeusz Boy-Żeleński"),
        ("Čapek, Karel, 1890-1938", "Karel Čapek"),
        ("Němcová, Božena, 1820?-1862", "Božena Němcová"),
        // Japanese, Chinese and Korean keep their order.
        ("村上, 春樹, 1949-", "村上 春樹"), ("夏目, 漱石", "夏目 漱石"), ("よしもと, ばなな", "よしもと ばなな"), ("金, 庸", "金 庸"),
        ("한, 강, 1970-", "한 강"),
        ("Murakami, Haruki, 1949-", "Haruki Murakami"), ("三島由紀夫", "三島由紀夫"), ("斉藤　努", "斉藤 努"),
        // Russian
        ("Толстой, Лев Николаевич, 1828-1910", "Лев Николаевич Толстой"), ("Чехов, А. П.", "А. П. Чехов"),
    ]) func `of a person gives the name as it is on the title page`(_ text: String, _ expected: String) {
        #expect(PersonName.displayed(text) == expected)
    }

    @Test(arguments: [
        (["Constance Garnett", "Constance Black Garnett"], true), (["Ursula K. Le Guin", "Ursula Le Guin"], true),
        (["C. Garnett", "Constance Garnett"], true), (["Clara Garnett", "Constance Garnett"], false),
        (["Thomas Mann", "Klaus Mann"], false), (["Homer", "Homer Simpson"], false),
    ]) func `of one person twice makes them one, if one of both has no role`(_ names: [String], _ isOne: Bool) {
        var people = [Contributor(name: names[0], role: .translator)]
        people.add([Contributor(name: names[1], role: .other)])
        #expect(people.count == (isOne ? 1 : 2) && people[0].name == names[0] && people[0].role == .translator)
        var authors = [Contributor(name: names[0], role: .author)]
        authors.add([Contributor(name: names[1], role: .translator)])
        #expect(authors.count == 2, "with a role of its own, each stays")
    }
}

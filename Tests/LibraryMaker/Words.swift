/// The words of one language from which titles are made. All lists were made up for this generator.
struct Tongue: Sendable {
    /// The ISO 639-1 code of the language.
    let code: String
    let nouns: [String]
    let adjectives: [String]
    /// The patterns of titles. In a pattern, `#` is replaced by a noun, `%` by an adjective, and `@` by an invented
    /// proper name.
    let patterns: [String]
}

private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

/// The languages of titles. A language that is in this list several times is used more often.
let tongues = [
    english, english, english, english, german, french, spanish, polish, turkish, greek, russian, japanese, arabic,
]

private let english = Tongue(
    code: "en",
    nouns: words(
        """
        sea river mountain garden house winter summer night morning shadow light stone fire water wind storm island city \
        street bridge tower gate door window mirror clock map letter book library song silence memory dream sleep road \
        journey harbour ship lantern candle orchard forest wolf raven horse fox spider bee whale child daughter son mother \
        father brother sister stranger neighbour king queen soldier doctor teacher painter baker thief ghost machine engine \
        atlas history theory science kitchen recipe spice bread salt honey wine market war peace law money truth lie secret \
        promise debt border country kingdom empire century year hour science star moon planet desert dune glacier valley field
        """),
    adjectives: words(
        """
        last first second long short old new young dark bright silent broken hidden lost forgotten golden silver white black \
        red blue green cold warm strange quiet wild small great little hollow distant secret burning frozen endless empty
        """),
    patterns: [
        "The #", "The % #", "% # of #", "The # of @", "@", "@ and the % #", "# and #", "The #'s #", "% #",
        "Don't Wake the #",
        "The # in the % #", "A Short History of #", "How the # Came to @", "The Book of #", "@: % #", "Twenty-One % #s",
    ])

private let german = Tongue(
    code: "de",
    nouns: words(
        """
        Straße Fluß Garten Häuser Mühle Schlüssel Brücke Nächte Bücher Wörter Schatten Stille Küche Gewürze Brot Salz Träume \
        Flügel Wälder Vögel Füchse Könige Töchter Söhne Mütter Väter Gäste Grenze Länder Sterne Wüste Gletscher Rätsel Glück
        """),
    adjectives: words("große kleine stille dunkle letzte süße schöne verlorene weiße späte müde frühe kühle"),
    patterns: ["Die % #", "# und #", "Das Buch der #", "% #", "@", "Über #", "Die # von @", "Eine Geschichte der #"])

private let french = Tongue(
    code: "fr",
    nouns: words(
        """
        étranger île forêt château rêve été hiver mémoire lumière ombre cœur œuvre mère père frère sœur fenêtre clé épice \
        désert étoile énigme école élève âme hôtel théâtre poème océan
        """),
    adjectives: words("dernière première petite brisée oubliée dorée légère secrète bleue perdue"),
    patterns: [
        "L'#", "Une # %", "# et #", "Les #s de @", "Le livre de @", "À la recherche de @", "@", "D'une # à l'autre",
    ])

private let spanish = Tongue(
    code: "es",
    nouns: words(
        "corazón montaña niño señora canción camino sueño jardín cárcel océano habitación estación lección año"),
    adjectives: words("último pequeña lejano perdido dorada triste español"),
    patterns: ["El # %", "La # de @", "# y #", "Los años de @", "@", "¿Quién teme a @?"])

private let polish = Tongue(
    code: "pl", nouns: words("łódź książka żona dół źródło święto gęś śnieg księżyc ogień córka syn wieś"),
    adjectives: words("mały żółty ostatni cichy długi"), patterns: ["% #", "# i #", "# z @", "@"])

private let turkish = Tongue(
    code: "tr", nouns: words("ışık kapı İstanbul gölge çocuk şehir rüya ağaç kış deniz yıldız kırmızı"),
    adjectives: words("kayıp küçük güzel sıcak ıssız"), patterns: ["% #", "# ve #", "@", "% #'ın #"])

private let greek = Tongue(
    code: "el", nouns: words("θάλασσα νησί βιβλίο νύχτα φως δρόμος παιδί ουρανός Σίσυφος λόγος"),
    adjectives: words("μικρό παλιό χαμένος άσπρο"), patterns: ["% #", "# και #", "Το # του @"])

private let russian = Tongue(
    code: "ru", nouns: words("ночь море ёлка дорога книга зима город письмо сестра мост"),
    adjectives: words("белая последний тихий чёрный"), patterns: ["% #", "# и #", "@"])

private let japanese = Tongue(
    code: "ja", nouns: words("東京 海 夜 図書館 記憶 猫 桜 山 手紙 時計 ガラス ノート"), adjectives: words("静かな 古い 青い 遠い"),
    patterns: ["%#", "#と#", "#の中の#", "#"])

private let arabic = Tongue(
    code: "ar", nouns: words("بحر ليل مدينة كتاب باب نجمة طريق حديقة"), adjectives: words("قديم بعيد صغير"),
    patterns: ["# %", "# و #", "#"])

let givenNames = words(
    """
    Anna Béla Carla Daniel Élodie Farid Greta Hanna Ivan Jan Katarzyna Łukasz Maria Nils Ólafur Pilar Quentin Rosa Søren \
    Teresa Ursula Viktor Wanda Xenia Yasemin Zoë Ángel Brigid Chiara Dmitri Emine Frances Gökhan Harold İpek J.M. T.R. Ödön
    """)

/// The syllables from which the names of people and places are made.
let syllables = words(
    """
    ka lo mi ra ven dor tal sen bri gar hul nes ot pel qui rus sta tor und val wes yar zen als bor cas dun el fen gri hol \
    ist jor kel lan mar nor osk pra rin sol tre umb ver win
    """)

let genres = words(
    """
    fantasy history science-fiction crime poetry travel cooking biography philosophy essays classics children comics \
    politics art music nature mathematics economics religion theatre letters sport gardening myth
    """)

let moods = [
    "Sommerlektüre", "to lend", "from Mother", "Signed", "first edition", "Café", "book club", "re-read", "日本", "été",
]

let shelfNames = [
    "Living room", "Kitchen", "Study left", "Study right", "Attic", "Flur", "Children's room", "Box 1", "Box 2",
    "Étagère",
]

/// The words from which notes and quotes are made, most common words first.
let remarkWords = words(
    """
    the a of and to in is it was that with for on as but not his her they this be at have from or one by what all when \
    there can more if out so up about into than them like then time only book chapter story character page read \
    again slowly better ending beginning language style voice scene plot place because remember lovely dull strong weak \
    translation reminds quote favourite passage discuss question answer winter spice sea letter mother journey silence \
    wonderful unexpected patience dialogue landscape memory childhood grief humour irony suspense structure sentence \
    paragraph metaphor symbol theme motif narrator unreliable history politics kitchen recipe garden map border exile \
    naïve café déjà Straße schön später wichtig pensée rêve corazón świat
    """)

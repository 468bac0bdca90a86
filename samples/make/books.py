"""The books on the table. Title, author and ISBN are real; the blurbs are our own words; imprints are invented."""

IMPRINTS = ["Larkspur", "Paper Lantern", "North Quay", "Tern & Oak", "Meridian House", "Kestrel Editions"]

# isbn (hyphenated) -> title, author, tagline, paragraphs, category
BOOKS = {
    "978-0-441-47812-5": ("The Left Hand of Darkness", "Ursula K. Le Guin", "A world of snow, and one man who must learn to read it.", [
        "Genly Ai has come alone to the frozen planet Gethen with an invitation: join the other worlds. He finds a people who are neither men nor women, kingdoms that have never quite learned war, and a disgraced minister whose honesty he cannot see until it is almost too late.",
        "What begins as a diplomatic errand ends as a journey of eighty days across the ice, two travellers on one sledge, each the only proof the other has that trust is possible."], "Science Fiction"),
    "978-0-441-01359-3": ("Dune", "Frank Herbert", "Whoever holds the desert holds the stars.", [
        "Arrakis is sand, heat and hunger, and it is the only place in the known universe where the spice is found. When the Emperor hands the planet to House Atreides, young Paul understands sooner than his father does that the gift is a trap.",
        "Driven into the deep desert with his mother, he is taken in by the Fremen, who ride what others flee and who have waited a long time for someone like him. He has seen where that road goes. He takes it all the same."], "Science Fiction"),
    "978-0-14-143951-8": ("Pride and Prejudice", "Jane Austen", "First impressions, and the long trouble of correcting them.", [
        "Mrs Bennet has five daughters and one thought. When a rich young man takes the house at Netherfield the neighbourhood considers him the property of some local girl at once; it is his proud friend Mr Darcy that nobody wants, least of all Elizabeth.",
        "Through bad proposals, worse manners and one disastrous letter, two clever people discover how wrong a clever person can be. Two centuries on it is still the quickest and the funniest of love stories."], "Classics"),
    "978-0-14-044913-6": ("Crime and Punishment", "Fyodor Dostoyevsky", "He had thought of everything but himself.", [
        "A hot July in St Petersburg. Raskolnikov, a student who has stopped studying, lies in a room like a cupboard and works out why a man of talent might be allowed one murder. Then he does it, and there are two bodies instead of one.",
        "What follows is not a search for the culprit but a siege: an investigator who never quite accuses, a sister about to sell herself in marriage, and Sonya, who has nothing, and who asks him the only question that matters."], "Classics"),
    "978-0-7432-7356-5": ("The Great Gatsby", "F. Scott Fitzgerald", "All summer long the lights were on across the bay.", [
        "Nobody who comes to Gatsby's parties knows who he is. Some say he was a spy, some that he killed a man. His neighbour Nick Carraway, selling bonds and renting a cottage next door, learns that the whole bright machine of music and gin has one purpose: to be seen from the end of a dock on the other side of the water.",
        "A short novel about money, memory and a green light."], "Fiction"),
    "978-0-547-92822-7": ("The Hobbit", "J.R.R. Tolkien", "There and back again.", [
        "Bilbo Baggins likes his meals regular and his adventures in books. One morning he wishes a wizard good day, and by the next there are thirteen dwarves in his larder and a contract on the mantelpiece: burglar wanted, one fourteenth of the profits, funeral expenses if any.",
        "Trolls, goblins, riddles in the dark, a forest with no end, and under a lonely mountain a dragon asleep on everything that was ever stolen."], "Fantasy"),
    "978-0-14-243724-7": ("Moby-Dick", "Herman Melville", "One captain, one whale, and every ocean between them.", [
        "Ishmael goes to sea because it is November in his soul, and signs on a whaler whose captain nobody has seen. When Ahab at last comes on deck, on a leg of polished bone, he nails a gold coin to the mast and tells the crew what they are really hunting.",
        "Part sermon, part comedy, part handbook of a vanished trade; the strangest and the largest of American novels."], "Classics"),
    "978-0-14-143947-1": ("Frankenstein", "Mary Shelley", "He gave it life. He did not give it a name.", [
        "On a dreary night in November a student of Ingolstadt sees the dull yellow eye of his creature open, and runs away. Everything that happens afterwards, in the Alps, on a Scottish island, on the Arctic ice, happens because he ran.",
        "Written by a nineteen-year-old in a wet Swiss summer, it is at once the first science fiction and a plain story about what is owed to the ones we make."], "Gothic Fiction"),
    "978-0-553-29335-7": ("Foundation", "Isaac Asimov", "The Empire will fall. The only question is for how long.", [
        "Hari Seldon can do with the history of nations what others do with the orbits of planets, and the sum comes out badly: thirty thousand years of dark. He cannot stop the fall; he can shorten it. On a poor world at the rim of the galaxy he plants a colony of encyclopedists, and does not tell them what they are for.",
        "A story told in crises, each with a single way out."], "Science Fiction"),
    "978-0-201-63361-0": ("Design Patterns", "Erich Gamma · Richard Helm · Ralph Johnson · John Vlissides", "Elements of Reusable Object-Oriented Software", [
        "Good designers do not solve every problem from first principles. They reuse solutions that have worked before. Four experienced programmers write twenty-three of these down: what each is called, when it applies, what it costs, and what it looks like in running code.",
        "From Abstract Factory to Visitor, the catalogue gives teams a common vocabulary, and newcomers the experience of those who were there earlier. Examples in C++ and Smalltalk."], "Computing / Software Engineering"),
    "978-0-13-595705-9": ("The Pragmatic Programmer", "David Thomas · Andrew Hunt", "Your journey to mastery. Twentieth anniversary edition", [
        "What do working programmers do all day, and how could they do it with less regret? Short chapters with long consequences: keep knowledge in one place, fix the first broken window, fire tracer bullets, let it crash early, care about the craft.",
        "Twenty years after it first appeared, the authors went through every page again. A third is new; the advice still fits on a card beside the screen."], "Computing / Programming"),
    "978-0-201-83595-3": ("The Mythical Man-Month", "Frederick P. Brooks, Jr.", "Essays on software engineering. Anniversary edition", [
        "Adding people to a late project makes it later. The man who led the making of OS/360 explains why, and why the same sum keeps being done wrong: months and people are not the same coin.",
        "To the original essays this edition adds the argument that no silver bullet is coming, the author's second thoughts on it, and a frank review, twenty years on, of what he got wrong."], "Computing / Management"),
    "978-0-553-38016-3": ("A Brief History of Time", "Stephen Hawking", "Where did it all come from, and could it have been otherwise?", [
        "With one equation and a great many good jokes, a cosmologist takes the general reader from Aristotle's nested spheres to the edge of a black hole, and explains why time might have a beginning but no edge.",
        "An account of what physicists know, what they hope, and what they would give to find out."], "Science"),
    "978-0-465-05065-9": ("The Design of Everyday Things", "Don Norman", "If you have to read the door, the door is wrong.", [
        "Why do we push what should be pulled, and boil an empty ring while the pot stays cold? Not because we are clumsy, says a psychologist with a long memory for bad taps, but because the things around us give the wrong signals.",
        "Affordances, mapping, feedback, constraints: a few plain ideas that change how a kettle, a car or a website looks. Revised and expanded."], "Design / Psychology"),
    "978-0-06-085052-4": ("Brave New World", "Aldous Huxley", "Everyone belongs to everyone else.", [
        "No war, no want, no old age, no mothers. In the year of our Ford 632 people are decanted, not born, and are fitted for their work before they can speak. Bernard Marx is not happy, which is against good manners; then he brings home from a reservation a young man who has read Shakespeare.",
        "A comedy about comfort, and one of the few prophecies that grows nearer."], "Fiction"),
    "978-0-385-47454-2": ("Things Fall Apart", "Chinua Achebe", "A strong man in a changing village.", [
        "Okonkwo has made himself out of nothing: yams, wrestling, three wives and a fear of being like his father. In the nine villages of Umuofia he is a great man. Then come an accident, seven years of exile, and, on a bicycle, the first missionaries.",
        "In few words and many proverbs, the novel that told the story from the other side."], "Fiction"),
    "978-0-385-33384-9": ("Slaughterhouse-Five", "Kurt Vonnegut", "So it goes.", [
        "Billy Pilgrim has come unstuck in time. He is an optometrist in Ilium, a prisoner in Dresden on the night it burned, an exhibit in a zoo on Tralfamadore, in no order that he can choose.",
        "The author was in that city, underground, among the sides of beef. It took him twenty-three years to find a way to say so. It is short, he explains, because there is nothing intelligent to say about a massacre."], "Fiction"),
    "978-0-14-143955-6": ("Wuthering Heights", "Emily Brontë", "Two houses on a moor, and no way between them.", [
        "A foundling is brought home from Liverpool under a coat. He is hated by the son of the house and loved by the daughter, and forgives neither. Thirty years later a tenant, snowed in, reads a name scratched on a window ledge and hears a hand at the glass.",
        "There had been nothing like it before 1847, and there has been nothing like it since."], "Classics"),
    "978-0-14-143984-6": ("Dracula", "Bram Stoker", "Enter freely and of your own will.", [
        "A young solicitor travels east to help a nobleman buy a house in London, and notices that his host casts no reflection. Told in letters, diaries, telegrams and the log of a ship that comes into Whitby with a dead man at the wheel.",
        "The machinery of the modern world, typewriters, railway timetables, blood transfusion, against something four hundred years old."], "Gothic Fiction"),
    "978-0-593-13520-4": ("Project Hail Mary", "Andy Weir", "He can't remember his name. He can remember the melting point of lead.", [
        "Ryland Grace wakes on a ship with two dead crew members and a robot that wants him to say what two plus two is. Piece by piece he works it out: he is a very long way from home, the Sun is dying, and the answer, if there is one, is out here.",
        "A story about duct tape, spectroscopy and making friends across the largest possible gap."], "Science Fiction"),
    "978-3-257-22800-7": ("Das Parfum", "Patrick Süskind", "Die Geschichte eines Mörders", [
        "Paris im Jahr 1738, die übelriechendste Stadt des Königreichs. Unter einem Fischstand kommt ein Kind zur Welt, das selbst nach nichts riecht, dafür aber alles riechen kann: Steine, Wasser, den Regen von gestern, die Angst.",
        "Jean-Baptiste Grenouille lernt das Handwerk der Parfumeure, um einen einzigen Duft zu bewahren. Dass dafür Menschen sterben müssen, stört ihn so wenig wie den Gerber das Kalb."], "Roman"),
    "978-3-518-36675-2": ("Der Steppenwolf", "Hermann Hesse", "Nur für Verrückte", [
        "Harry Haller ist fünfzig, gebildet und müde. Halb Mensch, halb Wolf, so sieht er sich, und beide Hälften sind einander im Weg. Ein Traktat vom Jahrmarkt, das seinen Namen trägt, und ein Mädchen in einem Tanzlokal zeigen ihm, dass zwei Seelen noch viel zu wenige sind.",
        "Am Ende steht ein Theater mit vielen Türen. Der Eintritt kostet den Verstand."], "Roman"),
    "978-3-499-25635-6": ("Tschick", "Wolfgang Herrndorf", "Zwei Jungs, ein geklauter Lada, kein Plan", [
        "Die Mutter in der Entzugsklinik, der Vater mit der Assistentin auf Geschäftsreise: Maik wird die Sommerferien allein am Pool verbringen. Dann steht Tschick vor der Tür, aus der Förderschule ins Gymnasium geraten, mit einem Auto, das ihm nicht gehört.",
        "Sie fahren einfach los, Richtung Walachei, ohne Karte und ohne Handy. Ein Sommer, den keiner vergisst."], "Jugendbuch"),
    "978-2-07-036002-4": ("L’Étranger", "Albert Camus", "Le soleil, la plage, quatre coups brefs.", [
        "À Alger, un employé de bureau enterre sa mère sans pleurer. Le lendemain il se baigne, va au cinéma, rit avec une femme. Quelques semaines plus tard, sur une plage écrasée de lumière, il tue un homme sans savoir dire pourquoi.",
        "On le jugera moins pour ce qu’il a fait que pour ce qu’il n’a pas éprouvé. Un récit bref et net, écrit comme au soleil de midi."], "Roman"),
    "978-2-07-061275-8": ("Le Petit Prince", "Antoine de Saint-Exupéry", "Dessine-moi un mouton…", [
        "Un aviateur tombé en panne au milieu du désert est réveillé par une drôle de petite voix. L’enfant vient d’une planète à peine plus grande qu’une maison ; il y a laissé trois volcans, une rose difficile et des couchers de soleil tant qu’on en veut.",
        "De planète en planète il a rencontré les grandes personnes. Reste à apprivoiser un renard."], "Conte"),
    "978-2-07-036042-0": ("La Peste", "Albert Camus", "Une ville ferme ses portes.", [
        "Un matin d’avril, à Oran, le docteur Rieux bute sur un rat mort au milieu du palier. Bientôt ils sont des milliers, puis viennent les fièvres. La ville est close ; chacun y reste seul avec sa peur, son amour au loin, son métier.",
        "Chronique d’un fléau et de ceux qui, sans grands mots, font ce qu’il y a à faire."], "Roman"),
    "978-84-376-0494-7": ("Cien años de soledad", "Gabriel García Márquez", "Siete generaciones y un pueblo llamado Macondo", [
        "José Arcadio Buendía funda una aldea a la orilla de un río de aguas diáfanas y se pasa la vida buscando lo que trajeron los gitanos: el imán, la lupa, el hielo. Tras él vendrán las guerras perdidas, los amores prohibidos, la peste del insomnio, la lluvia de casi cinco años.",
        "Todo estaba escrito ya en unos pergaminos que nadie sabía leer."], "Letras hispánicas"),
    "978-84-206-3312-1": ("Ficciones", "Jorge Luis Borges", "El jardín de senderos que se bifurcan · Artificios", [
        "Una biblioteca que contiene todos los libros posibles, un hombre que recuerda cada hoja de cada árbol, un planeta inventado que empieza a infiltrarse en el nuestro, un espía que razona como un laberinto.",
        "Diecisiete relatos breves, exactos como teoremas y extraños como sueños, que cambiaron para siempre la idea de lo que cabe en unas pocas páginas."], "El libro de bolsillo"),
    "978-4-06-274868-1": ("ノルウェイの森 上", "村上春樹", "あの頃、ぼくは二十歳になろうとしていた。", [
        "着陸した飛行機の中で流れてきた一曲が、三十七歳の僕を十八年前の草原へ連れもどす。自殺した親友、その恋人だった直子、大学で出会った緑。失われたものと、これから失われるものの間で、僕は手紙を書き、待ちつづける。静かな語りで多くの読者をとらえた長編小説の上巻。"], "文庫"),
    "979-8664653403": ("System Design Interview", "Alex Xu", "An insider's guide. Second edition", [
        "\"Design a news feed.\" The question is short, the hour is shorter, and there is no right answer. A step-by-step way to ask the right things first, draw the boxes that matter, and know when to stop.",
        "Sixteen worked problems, from a rate limiter and a key-value store to a chat system and a video service, with one hundred and eighty-eight diagrams."], "Computing"),
}


def digits(isbn):
    return isbn.replace("-", "")

#!/usr/bin/env python3
"""Writes ../editions.txt (Open Library dump format) and ../isbns.txt (as handheld scanners type them)."""
import json
from pathlib import Path

import barcode

SAMPLES = Path(__file__).resolve().parent.parent

# Open Library's own keys where they are known for certain; the others are numbered from OL900000001 (see README).
AUTHORS = {"Ursula K. Le Guin": 31353, "Frank Herbert": 79034, "Jane Austen": 21594, "George Orwell": 118077,
           "J.R.R. Tolkien": 26320, "F. Scott Fitzgerald": 27349, "J. K. Rowling": 23919, "Kurt Vonnegut": 20187,
           "Charles Dickens": 24638, "Albert Camus": 124171}
ON_WORK = {"9780441478125", "9780743273565", "9780201633610", "9782070612758", "9784101010137", "9783257228007", "9780141439600"}

# isbn | title | authors ; ... | date | publisher | pages | language | how the ISBN is given (13, 10, both, 13-, 10-, pbk)
BOOKS = """
9780441478125|The Left Hand of Darkness|Ursula K. Le Guin|1987|Ace Books|304|eng|both
9780061054884|The Dispossessed|Ursula K. Le Guin|1994|HarperPrism|387|eng|10
9780547773742|A Wizard of Earthsea|Ursula K. Le Guin|September 11, 2012|Houghton Mifflin Harcourt|183|eng|13
9780441013593|Dune|Frank Herbert|August 2, 2005|Ace Books|528|eng|both
9780141439518|Pride and prejudice|Jane Austen|2003|Penguin Books|480|eng|both
9780140449136|Crime and Punishment|Fyodor Dostoyevsky|December 31, 2002|Penguin Classics|671|eng|10
9780451524935|Nineteen Eighty-Four|George Orwell|1961|Signet Classics|328|eng|both
9780061120084|To Kill a Mockingbird|Harper Lee|2006|Harper Perennial Modern Classics|323|eng|13
9780743273565|The Great Gatsby|F. Scott Fitzgerald|2004-09-30|Scribner|180|eng|13-
9780547928227|The Hobbit, or, There and Back Again|J.R.R. Tolkien|2012|Houghton Mifflin Harcourt|300|eng|10
9780544003415|The Lord of the Rings|J.R.R. Tolkien|August 14, 2012|Mariner Books|1178|eng|both
9780316769488|The Catcher in the Rye|J. D. Salinger|May 1, 1991|Little, Brown|214|eng|both
9780375704024|Norwegian Wood|Haruki Murakami|September 12, 2000|Vintage International|296|eng|10
9780385474542|Things Fall Apart|Chinua Achebe|1994|Anchor Books|209|eng|10-
9780060883287|One Hundred Years of Solitude|Gabriel García Márquez|February 21, 2006|Harper Perennial Modern Classics|417|eng|13
9780553293357|Foundation|Isaac Asimov|Oct 01, 1991|Spectra|296|eng|both
9780345391803|The Hitchhiker's Guide to the Galaxy|Douglas Adams|1995|Del Rey||eng|10
9780156027328|Life of Pi|Yann Martel|May 2003|Harvest Books|326|eng|both
9780201633610|Design patterns : elements of reusable object-oriented software|Erich Gamma;Richard Helm;Ralph Johnson;John Vlissides|1995|Addison-Wesley|395|eng|10
9780131103627|The C programming language|Brian W. Kernighan;Dennis M. Ritchie|1988|Prentice Hall|272|eng|10
9780262510875|Structure and Interpretation of Computer Programs|Harold Abelson;Gerald Jay Sussman;Julie Sussman|July 25, 1996|The MIT Press|657|eng|13
9780262033848|Introduction to algorithms|Thomas H. Cormen;Charles E. Leiserson;Ronald L. Rivest;Clifford Stein|2009|MIT Press|1292|eng|13
9780135957059|The Pragmatic Programmer|David Thomas;Andrew Hunt|2019|Addison-Wesley Professional|352|eng|13
9780201616224|The Pragmatic Programmer|Andrew Hunt;David Thomas|October 20, 1999|Addison-Wesley Professional|321|eng|10
9780132350884|Clean Code|Robert C. Martin|Aug 11, 2008|Prentice Hall|431|eng|both
9780201835953|The mythical man-month|Frederick P. Brooks|1995|Addison-Wesley Pub. Co.|322|eng|10-
9780596007126|Head First Design Patterns|Eric Freeman;Elisabeth Robson|October 2004|O'Reilly Media|638|eng|both
9780596517748|JavaScript: The Good Parts|Douglas Crockford|May 2008|O'Reilly|153|eng|13
9781449373320|Designing Data-Intensive Applications|Martin Kleppmann|2017|O'Reilly Media||eng|13
9780201896831|The Art of Computer Programming, Volume 1|Donald E. Knuth|July 17, 1997|Addison-Wesley Professional|650|eng|both
9780062316097|Sapiens|Yuval Noah Harari|2015-02-10|Harper|443|eng|13
9780345539434|Cosmos|Carl Sagan|2013|Ballantine Books||eng|both
9780553380163|A Brief History of Time|Stephen Hawking|September 1, 1998|Bantam|212|eng|10
9780465050659|The Design of Everyday Things|Donald A. Norman|Nov 05, 2013|Basic Books|347|eng|13
9780374533557|Thinking, Fast and Slow|Daniel Kahneman|2013|Farrar, Straus and Giroux|499|eng|both
9780142437247|Moby-Dick, or, The whale|Herman Melville|2003|Penguin Books||eng|10
9780141439471|Frankenstein, or, The modern Prometheus|Mary Shelley|2003|Penguin Books||eng|both
9780141439556|Wuthering Heights|Emily Brontë|2003|Penguin Books||eng|both
9780141441146|Jane Eyre|Charlotte Brontë|2006|Penguin Classics||eng|13
9780141439600|A tale of two cities|Charles Dickens|2003|Penguin||eng|10
9780141439846|Dracula|Bram Stoker|2003|Penguin Books||eng|both
9780143039433|The Grapes of Wrath|John Steinbeck|2006|Penguin Classics|464|eng|both
9780140283297|On the Road|Jack Kerouac|1999|Penguin Books|307|eng|10
9780060850524|Brave New World|Aldous Huxley|October 18, 2006|Harper Perennial|288|eng|both
9781451673319|Fahrenheit 451|Ray Bradbury|January 10, 2012|Simon & Schuster|249|eng|13
9780812550702|Ender's Game|Orson Scott Card|1994|Tor Books|324|eng|both
9780441569595|Neuromancer|William Gibson|1984|Ace Books|271|eng|10
9780345404473|Do Androids Dream of Electric Sheep?|Philip K. Dick|1996|Ballantine Books|244|eng|pbk
9780380789030|American Gods|Neil Gaiman|2002|HarperTorch||eng|10
9780060853983|Good Omens|Neil Gaiman;Terry Pratchett|November 28, 2006|HarperTorch||eng|both
9780590353427|Harry Potter and the sorcerer's stone|J. K. Rowling|1999|Scholastic|309|eng|10
9780747532699|Harry Potter and the Philosopher's Stone|J. K. Rowling|1997|Bloomsbury|223|eng|10-
9780439023481|The Hunger Games|Suzanne Collins|2008|Scholastic Press|374|eng|13
9781400033416|Beloved|Toni Morrison|June 8, 2004|Vintage|324|eng|both
9780385333481|Cat's Cradle|Kurt Vonnegut|1998|Dell|287|eng|10
9780385333849|Slaughterhouse-five|Kurt Vonnegut|1999|Dial Press|275|eng|10
9780399590504|Educated|Tara Westover|2018|Random House|334|eng|13
9780593135204|Project Hail Mary|Andy Weir|May 4, 2021|Ballantine Books|476|eng|13
9780765377067|The Three-Body Problem|Cixin Liu;Ken Liu|2014-11-11|Tor Books|399|eng|13
9780765382030|The Three-Body Problem|Cixin Liu|2016|Tor Books|400|eng|13
9781501173219|All the Light We Cannot See|Anthony Doerr|2017|Scribner|531|eng|13
9798664653403|System Design Interview|Alex Xu|2020|Independently published||eng|13
9783257228007|Das Parfum|Patrick Süskind|1994|Diogenes||ger|10
9783257229530|Der Vorleser|Bernhard Schlink|1997|Diogenes|206|ger|both
9783518366752|Der Steppenwolf|Hermann Hesse|1974|Suhrkamp||ger|10-
9783518366820|Siddhartha|Hermann Hesse|1974|Suhrkamp||ger|10
9783150099001|Die Verwandlung|Franz Kafka|2001|Reclam||ger|both
9783150000014|Faust|Johann Wolfgang von Goethe||Reclam||ger|pbk
9783499256356|Tschick|Wolfgang Herrndorf|2012|Rowohlt Taschenbuch|254|ger|13
9783522128001|Die unendliche Geschichte|Michael Ende|1979|Thienemann|428|ger|10
9782070360024|L'étranger|Albert Camus|1972|Gallimard||fre|10
9782070360420|La peste|Albert Camus|1972|Gallimard||fre|10-
9782070612758|Le petit prince|Antoine de Saint-Exupéry|2007|Gallimard||fre|13
9782070413119|Madame Bovary|Gustave Flaubert|2001|Gallimard||fre|13
9782070409228|Les Misérables|Victor Hugo||Gallimard||fre|10
9782070391653|L'élégance du hérisson|Muriel Barbery|2009|Gallimard||fre|13
9782844140586|Persepolis|Marjane Satrapi|2000|L'Association||fre|10
9788437604947|Cien años de soledad|Gabriel García Márquez||Cátedra||spa|10
9780307474728|Cien años de soledad|Gabriel García Márquez|2009|Vintage Español||spa|13
9788408043645|La sombra del viento|Carlos Ruiz Zafón|2001|Planeta||spa|10-
9788420412146|Don Quijote de la Mancha|Miguel de Cervantes|noviembre de 2004|Alfaguara||spa|13
9788437604183|Pedro Páramo|Juan Rulfo||Cátedra||spa|10
9788437604572|Rayuela|Julio Cortázar||Cátedra||spa|both
9784062748681|ノルウェイの森 上|村上春樹|2004年9月|講談社||jpn|13
9784101001548|海辺のカフカ 上|村上春樹|2005|新潮社||jpn|10
9784101010137|こころ|夏目漱石|2004|新潮社||jpn|13-
9784101006055|人間失格|太宰治||新潮社||jpn|10
9784873115658|リーダブルコード|Dustin Boswell;Trevor Foucher;角征典|2012.6|オライリー・ジャパン||jpn|13
9787536692930|三体|刘慈欣|2008-1|重庆出版社|302|chi|13
9788571644953|Ensaio sobre a cegueira|José Saramago|1995|Companhia das Letras||por|pbk
"""

# The places of the hyphens: the ISBN's group and the length of the publisher's number
GROUPS = [("9780", [("00", 2), ("200", 3), ("7000", 4), ("85000", 5), ("900000", 6)]), ("9781", [("00", 2), ("100", 3), ("4000", 4), ("55000", 5)]),
          ("9782", [("00", 2), ("200", 3), ("7000", 4), ("84000", 5), ("900000", 6)]), ("9783", [("00", 2), ("200", 3), ("7000", 4)]), ("9784", [("00", 2), ("200", 3), ("7000", 4), ("85000", 5)]),
          ("97884", [("00", 2), ("200", 3), ("7000", 4)])]


def hyphenated(isbn):
    for group, ranges in GROUPS:
        if isbn.startswith(group):
            rest = isbn[len(group):]
            length = max((r for r in ranges if rest[:len(r[0])] >= r[0]), key=lambda r: r[0].ljust(7, "0"))[1]
            return "-".join([isbn[:3], group[3:], rest[:length], rest[length:-1], isbn[-1]])
    return isbn


def isbn10(isbn):
    if not isbn.startswith("978"):
        return None
    total = sum((10 - i) * int(d) for i, d in enumerate(isbn[3:12]))
    return isbn[3:12] + "0123456789X"[-total % 11]


def hyphenated10(isbn):
    return "-".join(hyphenated(isbn).split("-")[1:-1] + [isbn10(isbn)[-1]])


def row(kind, key, revision, modified, record):
    return "\t".join([kind, key, str(revision), modified, json.dumps(record, ensure_ascii=False)])


def stamp(number):
    return f"20{8 + number % 17:02d}-{1 + number % 12:02d}-{1 + number * 7 % 28:02d}T{number * 5 % 24:02d}:{number * 11 % 60:02d}:{number * 13 % 60:02d}.{number * 7919 % 1000000:06d}"


def main():
    authors, author_rows, editions, works = {}, [], [], []

    def author(name):
        if name not in authors:
            number = AUTHORS.get(name, 900000001 + len(authors))
            key = authors[name] = f"/authors/OL{number}A"
            n = len(authors)
            author_rows.append(row("/type/author", key, 1 + n % 9, stamp(n), {
                "name": name, "key": key, "type": {"key": "/type/author"}, "revision": 1 + n % 9,
                "last_modified": {"type": "/type/datetime", "value": stamp(n)}}))
        return authors[name]

    isbns = []
    for n, line in enumerate(BOOKS.strip().split("\n"), 1):
        isbn, title, names, date, publisher, pages, language, form = line.split("|")
        assert barcode.is_valid(isbn), isbn
        isbns.append(isbn)
        keys = [author(name) for name in names.split(";")]
        key, work = f"/books/OL{900000000 + n}M", f"/works/OL{900000000 + n}W"
        record = {"publishers": [publisher], "title": title, "languages": [{"key": f"/languages/{language}"}]}
        if form in ("13", "both"):
            record["isbn_13"] = [isbn]
        if form in ("10", "both"):
            record["isbn_10"] = [isbn10(isbn)]
        if form == "13-":
            record["isbn_13"] = [hyphenated(isbn)]
        if form == "10-":
            record["isbn_10"] = [hyphenated10(isbn)]
        if form == "pbk":
            record["isbn_10"] = [f"{isbn10(isbn)} (pbk.)"]
        if date:
            record["publish_date"] = date
        if pages:
            record["number_of_pages"] = int(pages)
        if n % 3:
            record["covers"] = [900000000 + n] if n % 7 else [-1]
        if isbn not in ON_WORK:
            record["authors"] = [{"key": k} for k in keys]
        record["works"] = [{"key": work}]
        record.update(key=key, type={"key": "/type/edition"}, revision=1 + n % 12)
        editions.append(row("/type/edition", key, 1 + n % 12, stamp(n + 300), record))
        if isbn in ON_WORK:
            works.append(row("/type/work", work, 1 + n % 5, stamp(n + 600), {
                "title": title, "key": work, "type": {"key": "/type/work"}, "revision": 1 + n % 5,
                "authors": [{"type": {"key": "/type/author_role"}, "author": {"key": k}} for k in keys]}))

    edition = {"type": {"key": "/type/edition"}}
    odd = [
        "\t".join(["/type/edition", "/books/OL900000901M", "3", stamp(901)]),
        row("/type/edition", "/books/OL900000902M", 2, stamp(902), {**edition, "key": "/books/OL900000902M", "title": "One column too many", "isbn_13": ["9780140449136"]}) + "\t\\N",
        "\t".join(["/type/edition", "/books/OL900000903M", "1", stamp(903), '{"title": "JSON that stops half']),
        row("/type/edition", "/books/OL900000904M", 4, stamp(904), {**edition, "key": "/books/OL900000904M", "title": "Junk where the ISBN should be", "isbn_10": ["none", "0", "n/a"], "isbn_13": ["97801404491"]}),
        row("/type/edition", "/books/OL900000905M", 1, stamp(905), {**edition, "key": "/books/OL900000905M", "title": "A wrong check digit", "isbn_13": ["9780140449137"]}),
        row("/type/edition", "/books/OL900000906M", 1, stamp(906), {**edition, "key": "/books/OL900000906M", "title": "No ISBN at all", "publish_date": "[1891?]", "number_of_pages": "xii, 212 p."}),
        row("/type/edition", "/books/OL900000907M", 7, stamp(907), {**edition, "key": "/books/OL900000907M", "title": "The Great Gatsby", "isbn_10": ["0743273567"], "publish_date": "2004", "publishers": ["Scribner"], "authors": [{"key": "/authors/OL27349A"}]}),
        row("/type/edition", "/books/OL900000908M", 1, stamp(908), {**edition, "key": "/books/OL900000908M", "title": "Eneida", "isbn_13": ["9790060115615"], "authors": [{"key": "/authors/OL900000999A"}]}),
        row("/type/redirect", "/authors/OL900000998A", 2, stamp(909), {"key": "/authors/OL900000998A", "type": {"key": "/type/redirect"}, "location": "/authors/OL27349A"}),
    ]
    (SAMPLES / "editions.txt").write_text("\n".join(author_rows + editions + works + odd) + "\n", encoding="utf-8")

    pick = [isbns[i] for i in sorted({k * len(isbns) // 40 for k in range(40)})]
    typed = []
    x = [i for i in isbns if isbn10(i) and isbn10(i).endswith("X")]
    pick = x[:4] + [i for i in pick if i not in x[:4]]
    for n, isbn in enumerate(pick[:40]):
        ten = isbn10(isbn)
        if n < 4:
            typed.append([ten, hyphenated10(isbn), ten.lower(), ten][n])
        elif n % 5 == 0:
            typed.append(f"]E0{isbn}")
        elif n % 5 == 1 and hyphenated(isbn) != isbn:
            typed.append(hyphenated(isbn))
        elif n % 10 == 7 and ten:
            typed.append(ten)
        else:
            typed.append(isbn)
    (SAMPLES / "isbns.txt").write_text("\n".join(typed) + "\n")
    print(f"{len(author_rows)} authors, {len(editions)} editions, {len(works)} works, {len(odd)} odd rows; {len(typed)} typed ISBNs")


if __name__ == "__main__":
    main()

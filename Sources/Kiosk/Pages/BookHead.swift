import Bookplate
import FoundationEssentials

/// The top of a book's page: cover, title, status, stars, and what goes on with it now.
struct BookHead {
    let book: Book
    let cover: KeptCover?
    /// The library's running session, of whichever book.
    let running: SessionRecord?
    let texts: Texts
    let zone: TimeZone
    let now: Date

    var view: View {
        let (copy, metadata) = (book.copy, book.edition.metadata)
        var view: View = [
            "id": book.id.rawValue, "heading": texts.shownTitle(of: book), "rawTitle": metadata.title ?? "",
            "authors": authors, "isAuthorless": metadata.authorNames.isEmpty, "people": metadata.peopleLines,
            "peopleHint": texts.peopleHint,
            "statuses": Copy.Status.allCases.map { status -> View in
                [
                    "status": status.rawValue, "label": texts.word(for: status), "isCurrent": status == copy.status,
                    "statusOf": texts.status(status, of: texts.shownTitle(of: book)),
                ]
            },
            "stars": stars, "ratingValue": JSONValue(copy.rating ?? 0).text,
            "ratingText": copy.rating.map { texts("book.starsOf", ["stars": texts.rating($0)]) }
                ?? texts("common.unrated"),
            "marks": marks, "serverNow": now.rfc3339, "pageCount": String(metadata.pageCount ?? 0),
        ]
        if let subtitle = metadata.subtitle { view["subtitle"] = subtitle }
        // A title as long as a paragraph is set like one.
        if texts.shownTitle(of: book).count > 90 { view["isLengthy"] = true }
        if copy.rating != nil { view["isRated"] = true }
        if let cover {
            view["coverSource"] = "/covers/\(book.edition.id.rawValue)?v=\(cover.version)"
            if cover.isOwn { view["hasOwnCover"] = true }
        }
        if let deleted = copy.deleted {
            view["trash"] =
                [
                    "since": texts("book.trashSince", ["when": texts.instant(deleted, in: zone)]),
                    "left": texts("book.trashLeft", count: Trash.daysLeft(deleted: deleted, now: now)),
                ] as View
        } else {
            view["isThere"] = true
        }
        view.merge(goingOn) { $1 }
        return view
    }

    private var authors: [View] {
        let names = book.edition.metadata.authorNames
        return names.enumerated().map { index, name in
            [
                "name": name, "href": "/library?author=" + PercentEncoding.encoded(name),
                "comma": index < names.count - 1,
            ]
        }
    }

    /// Five stars, each with how much of its width is lit.
    private var stars: [View] {
        let rating = book.copy.rating ?? 0
        return (1...5).map { star in
            let part = min(1, max(0, rating - Double(star - 1)))
            return [
                "star": String(star), "starLabel": texts("common.stars", count: star),
                "isChosen": rating == Double(star),
                // A star is as wide as 2.5 to 21.5 of its 24 units.
                "lit": JSONValue(part > 0 ? 2.5 + part * 19 : 0).text,
            ]
        }
    }

    private var marks: [View] {
        let copy = book.copy
        let marks: [(name: String, shape: String, isSet: Bool)] = [
            ("favourite", "♥", copy.isFavourite), ("owned", "●", copy.isOwned), ("wishlist", "☆", copy.isOnWishlist),
        ]
        return marks.map { mark in
            [
                "markName": mark.name, "mark": "\(mark.shape) \(texts("book.\(mark.name)"))", "isSet": mark.isSet,
                "body": JSONValue.object([(key: mark.name, value: .bool(!mark.isSet))]).text,
            ]
        }
    }

    /// The progress block and the session, of a book that is being read.
    private var goingOn: View {
        var view: View = [:]
        let pageCount = book.edition.metadata.pageCount
        let amount = book.copy.reading?.progress?.amount
        let isThere = book.copy.deleted == nil
        if isThere, book.copy.status == .reading || book.copy.status == .onHold {
            let fraction = amount?.fraction(of: pageCount)
            var block: View = [
                "reached": amount.map { texts.progress($0, pageCount: pageCount) } ?? texts("book.noProgress"),
                "currentPage": amount?.page.map(String.init) ?? "", "currentPercent": percent(amount),
                "width": "\(fraction.map { JSONValue(($0 * 1000).rounded() / 10).text } ?? "0")%",
            ]
            if amount?.isBeyond(pageCount) == true, let pageCount {
                block["beyond"] = texts("book.beyond", ["count": texts.grouped(pageCount)])
            }
            view["progress"] = block
        }
        if let running, running.copy == book.id {
            view["session"] =
                [
                    "sessionID": running.session.id.rawValue, "sessionStart": running.session.start.rfc3339,
                    "elapsed": texts.elapsed(running.session.seconds(until: now)),
                    "startPage": String(running.session.startPage),
                    "since": texts(
                        "book.sessionSince",
                        [
                            "page": texts.grouped(running.session.startPage),
                            "time": since(running.session.start),
                        ]),
                ] as View
        } else if let running, isThere {
            view["otherSession"] =
                [
                    "otherCopy": running.copy.rawValue,
                    "otherWords": texts(
                        "book.otherSession", ["title": LibraryHit.short(running.title ?? running.displayTitle)]),
                ] as View
        } else if isThere {
            view["mayStart"] = true
        }
        return view
    }

    /// Of today the time alone.
    private func since(_ start: Date) -> String {
        let told = texts.instant(start, in: zone)
        return CalendarDay(start, in: zone) == CalendarDay(now, in: zone) ? String(told.suffix(5)) : told
    }

    private func percent(_ amount: ProgressEntry.Amount?) -> String {
        amount?.percent.map { JSONValue($0).text } ?? ""
    }
}

extension Metadata {
    /// All who made it, as the field to edit has them: a line each, with a role where they are not the author.
    var peopleLines: String {
        authors.map { $0.role == .author ? $0.name : "\($0.name):\($0.role.rawValue)" }.joined(separator: "\n")
    }
}

extension Texts {
    /// Roles are typed as programs know them; where the reader has another word it stands beside: "translator (Übersetzung)".
    var peopleHint: String {
        let roles = Contributor.Role.allCases.map { role in
            word(for: role) == role.rawValue ? role.rawValue : "\(role.rawValue) (\(word(for: role)))"
        }
        return self("book.peopleHint", ["roles": roles.joined(separator: ", ")])
    }

    /// "Status of Dune: To Read"
    func status(_ status: Copy.Status, of title: String) -> String {
        self("book.statusOf", ["title": LibraryHit.short(title), "status": word(for: status)])
    }
}

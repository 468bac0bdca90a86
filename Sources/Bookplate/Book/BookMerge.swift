// The rules by which the values of two books are merged into one. Undo brings everything back, but a value that the
// kept book does not take is also returned, so that it can be shown and noted.

extension Edition {
    /// Fills empty fields from a record. A field that a person has edited stays as it is, even if it is empty.
    package mutating func fillGaps(from record: Metadata) {
        let old = metadata
        metadata.fillGaps(from: record)
        for field in editedFields { metadata.copy(field, from: old) }
    }

    /// Fills empty fields from an edition that is given up. Filled fields count as edited if a person had edited them
    /// there.
    ///
    /// An edition without an ISBN takes the other one's. If both have one, the other is added to the identifiers, in
    /// the scheme `isbn_13`.
    ///
    /// - Returns: what a person has entered in the other edition and this edition has not taken.
    package mutating func merge(_ other: Edition) -> [LostValue] {
        let old = metadata
        fillGaps(from: other.metadata)
        let filled = metadata.fields(differingFrom: old)
        editedFields.formUnion(other.editedFields.intersection(filled))
        var lost = other.metadata.enteredValues(among: other.editedFields, missingFrom: metadata)
        switch (isbn, other.isbn) {
        case (let own?, let isbn?) where own != isbn:
            let known = metadata.identifiers[Self.isbnScheme] ?? []
            if !known.contains(isbn.digits) { metadata.identifiers[Self.isbnScheme] = known + [isbn.digits] }
        case (nil, let isbn?):
            if let isbnText { lost.append(LostValue("ISBN", isbnText)) }
            (self.isbn, isbnText) = (isbn, other.isbnText)
            if other.editedFields.contains(.isbn) { editedFields.insert(.isbn) }
        case (_, nil):
            guard let text = other.isbnText, text != isbnText else { break }
            if isbn == nil, isbnText == nil { isbnText = text } else { lost.append(LostValue("ISBN", text)) }
        default: break
        }
        return lost
    }

    /// Returns the reason why this edition and another one are probably not the same; `nil` if they may be one.
    package func refusalToMerge(_ other: Edition) -> MergeRefusal? {
        if let isbn, let otherISBN = other.isbn {
            return isbn == otherISBN ? nil : .differentISBNs(kept: isbn, other: otherISBN)
        }
        let (own, others) = (metadata, other.metadata)
        if let kept = own.publishedDate?.year, let other = others.publishedDate?.year, kept != other {
            return .differentYears(kept: kept, other: other)
        }
        if let kept = own.language, let other = others.language, kept != other {
            return .differentLanguages(kept: kept, other: other)
        }
        return nil
    }

    /// The scheme of the ISBNs of editions that were merged into another one.
    private static let isbnScheme = "isbn_13"
}

extension Metadata {
    /// Returns the values of the given fields that differ from those of `other`. Identifiers are left out, because they
    /// are merged.
    fileprivate func enteredValues(among fields: Set<Field>, missingFrom other: Metadata) -> [LostValue] {
        let differing = fields.intersection(self.fields(differingFrom: other)).intersection(filledFields)
        let names: [(Field, String)] = [
            (.title, "Title"), (.subtitle, "Subtitle"), (.authors, "Contributors"), (.publisher, "Publisher"),
            (.publishedDate, "Published"), (.pageCount, "Pages"), (.language, "Language"),
            (.originalLanguage, "Original language"), (.authorNationality, "Nationality"), (.format, "Format"),
            (.series, "Series"), (.description, "Description"), (.subjects, "Subjects"), (.coverURL, "Cover"),
            (.previewLink, "Preview"), (.infoLink, "Web page"),
        ]
        return names.compactMap { field, name in
            differing.contains(field) ? text(of: field).map { LostValue(name, $0) } : nil
        }
    }
}

extension Copy {
    /// Takes the values of a copy that is given up, except its status and readings, which follow the tracker's rules.
    ///
    /// A book that is owned in one of the copies is owned, and no longer a wish if it is owned where it was no wish. It
    /// was added when the first of the copies was.
    ///
    /// - Returns: the other copy's values that this copy has not taken, because it has different ones.
    package mutating func merge(_ other: Copy) -> [LostValue] {
        var lost: [LostValue] = []
        func take<Value: Equatable>(
            _ path: WritableKeyPath<Copy, Value?>, _ name: String, _ text: (Value) -> String
        ) {
            guard let value = other[keyPath: path], value != self[keyPath: path] else { return }
            if self[keyPath: path] == nil {
                self[keyPath: path] = value
            } else {
                lost.append(LostValue(name, text(value)))
            }
        }
        take(\.shelf, "Shelf") { $0 }
        take(\.rating, "Rating", Copy.stars)
        take(\.recommendedBy, "Recommended by") { $0 }
        take(\.wouldRecommend, "Would recommend") { $0 ? "yes" : "no" }
        take(\.dailyGoal, "Daily goal") { "\($0) pages per day" }
        take(\.culturalGoalCategory, "Cultural goal") { $0 }
        if other.isPublic, !isPublic { lost.append(LostValue("Public", "yes")) }
        switch (isOwned, other.isOwned) {
        case (true, true): break
        case (true, false), (false, true): isOnWishlist = isOwned ? isOnWishlist : other.isOnWishlist
        case (false, false): isOnWishlist = isOnWishlist || other.isOnWishlist
        }
        isOwned = isOwned || other.isOwned
        isFavourite = isFavourite || other.isFavourite
        countsForCulturalGoal = countsForCulturalGoal || other.countsForCulturalGoal
        let known = Set(tags.map(\.caseFolded))
        tags += other.tags.filter { !known.contains($0.caseFolded) }
        added = min(added, other.added)
        return lost
    }
}

extension Tracker {
    /// The readings of two copies as those of one copy.
    package struct Merged: Sendable, Equatable {
        package var status: Copy.Status
        /// The readings, oldest first.
        package var readings: [Reading]
        /// The readings that said nothing more than a reading of the other copy, and are left out.
        package var repeated: [ID<Reading>]
    }

    /// Merges the readings of a copy that is given up into those of this copy. All are kept, in the order of their
    /// days, except a reading that was recorded in both copies: it is untouched, its state is that of a reading of the
    /// other copy, and so are its dates, as far as it has any.
    ///
    /// The status is that of the copy that is being read, if there is one. Otherwise, To Read gives way to any other
    /// status; between Read and Did Not Finish, the later reading decides, or this copy if a day is missing. The
    /// reading to which the status refers is the last.
    ///
    /// - Parameter untouched: the readings that have neither sessions nor progress that a person has entered.
    /// - Throws: ``MergeRefusal/twoOpenReadings(title:)`` if two readings are open.
    package func merging(
        _ other: Tracker, untouched: Set<ID<Reading>>, title: String
    ) throws(MergeRefusal) -> Merged {
        var (own, added) = (readings, other.readings)
        var repeated: [ID<Reading>] = []
        func absorb(_ readings: inout [Reading], in others: [Reading]) {
            var free = others
            readings.removeAll { reading in
                guard untouched.contains(reading.id), let match = free.firstIndex(where: reading.isContained) else {
                    return false
                }
                free.remove(at: match)
                repeated.append(reading.id)
                return true
            }
        }
        absorb(&added, in: own)
        absorb(&own, in: added)
        let open = (own + added).filter { $0.state == .open }
        guard open.count <= 1 else { throw .twoOpenReadings(title: title) }
        let status = mergedStatus(other, isOpen: !open.isEmpty)

        var all = own
        for reading in added {
            let later = all.firstIndex { $0.state != .cancelled && $0.isLater(than: reading) }
            all.insert(reading, at: later ?? all.count)
        }
        // The reading to which the status refers is the last. If several could be, it is one that a copy shows.
        if let state = Reading.State(after: status) {
            let shown = [shown, other.shown].compactMap { $0?.id }
            let fits = all.filter { $0.state == state }
            let last = fits.last { shown.contains($0.id) } ?? fits.last
            if let last {
                all.removeAll { $0.id == last.id }
                all.append(last)
            }
        }
        return Merged(status: status, readings: all, repeated: repeated)
    }

    private func mergedStatus(_ other: Tracker, isOpen: Bool) -> Copy.Status {
        func isBeingRead(_ status: Copy.Status) -> Bool { Reading.State(after: status) == .open }
        if isOpen { return isBeingRead(status) ? status : other.status }
        if status == .toRead || other.status == .toRead { return status == .toRead ? other.status : status }
        let days = (own: shown?.day, other: other.shown?.day)
        guard let own = days.own, let last = days.other else { return status }
        return own < last ? other.status : status
    }
}

extension Reading {
    /// Returns true if another reading says everything that this one does.
    fileprivate func isContained(in other: Reading) -> Bool {
        func agrees(_ day: CalendarDay?, _ otherDay: CalendarDay?) -> Bool { day == nil || day == otherDay }
        return state == other.state && agrees(started, other.started) && agrees(finished, other.finished)
            && agrees(stopped, other.stopped)
    }

    /// Returns true if this reading comes after another one because of their days. A reading without days comes before
    /// those that have some.
    fileprivate func isLater(than other: Reading) -> Bool {
        guard let day else { return false }
        return other.day.map { $0 < day } ?? true
    }
}

import Bookplate
import Hub

/// What the hub tells, on the screen.
extension LiveLoop {
    mutating func take(_ event: HubEvent) {
        switch event {
        case .status(let status):
            guard status != state.hub?.status else { return }
            state.hub?.status = status
            switch status {
            case .away(let why): tell("\(why). Going on; it is all kept here.", .attention)
            case .unpaired: tell(HubWords.unpaired, .problem)
            case .unknown, .up: break
            }
        case .waiting(let count): state.hub?.waiting = count
        case .news(let news): for each in news { take(each) }
        case .trouble(let words): tell(words, .problem)
        }
    }

    private mutating func take(_ news: HubNews) {
        switch news {
        case .answered(let id, let answer, let copy):
            guard let row = state.batch[id], row.end == nil || row.end == .left else { return }
            if answer == .confirmed, let copy {
                state.batch.note([(id, .alreadySaved(copy))])
                run.events.note([.saved(row.candidate, .alreadySaved(copy))])
            } else {
                state.batch.leave(id)
                answeredElsewhere.insert(id)
                run.events.note([.skipped(row.candidate)])
            }
            tell("answered at the hub: \(row.candidate.metadata.title ?? row.candidate.item.isbn.hyphenated)", .faint)
        case .owned, .kept, .refused:
            if let words = news.words { tell(words, .attention) }
        }
    }
}

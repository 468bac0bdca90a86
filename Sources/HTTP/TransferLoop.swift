import CCurl
import Foundation
import Synchronization

/// The thread that runs the transfers: hands new ones to libcurl's multi interface, ends cancelled ones, tells results.
///
/// Everything of libcurl happens on this thread but curl_multi_wakeup(), the one function that may be called from others.
final class TransferLoop: Sendable {
    typealias Ticket = UInt64
    typealias Answer = CheckedContinuation<Result<HTTPAnswer, TransportError>, Never>

    private let identity: HTTPClient.Identity
    private let mailbox = Mutex(Mailbox())

    private struct Mailbox {
        var lastTicket: Ticket = 0
        var waiting: [(ticket: Ticket, request: HTTPRequest, answer: Answer)] = []
        var cancelled: Set<Ticket> = []
        var isRunning = false
        var isStopping = false
        var bell: Bell?
    }

    /// What wakes the thread.
    ///
    /// `@unchecked Sendable` holds: the handle is used only for curl_multi_wakeup(), under the mailbox's lock, and is taken out of
    /// the mailbox under the same lock before the thread frees it.
    private struct Bell: @unchecked Sendable {
        let curl: CurlLibrary
        let multi: UnsafeMutableRawPointer
        func ring() { _ = curl.table.pointee.multi_wakeup(multi) }
    }

    init(identity: HTTPClient.Identity) { self.identity = identity }

    func newTicket() -> Ticket {
        mailbox.withLock {
            $0.lastTicket += 1
            return $0.lastTicket
        }
    }

    /// Hands a request over. `answer` is resumed exactly once.
    func submit(_ request: HTTPRequest, as ticket: Ticket, _ answer: Answer) {
        let (isCancelled, needsThread) = mailbox.withLock { box in
            guard !box.cancelled.contains(ticket) else { return (true, false) }
            box.waiting.append((ticket, request, answer))
            box.bell?.ring()
            defer { box.isRunning = true }
            return (false, !box.isRunning)
        }
        if isCancelled { answer.resume(returning: .failure(.cancelled)) }
        guard needsThread else { return }
        let thread = Thread { self.run() }
        thread.name = "bookplate-http"
        thread.stackSize = 512 << 10
        thread.start()
    }

    func cancel(_ ticket: Ticket) {
        mailbox.withLock {
            $0.cancelled.insert(ticket)
            $0.bell?.ring()
        }
    }

    /// Ends what is left of a ticket; call it after the answer.
    func forget(_ ticket: Ticket) { mailbox.withLock { _ = $0.cancelled.remove(ticket) } }

    /// Ends the thread; transfers under way end as cancelled.
    func stop() {
        mailbox.withLock {
            $0.isStopping = true
            $0.bell?.ring()
        }
    }

    private func run() {
        let opened = CurlLibrary.shared.flatMap { curl -> Result<Bell, TransportError> in
            guard let multi = curl.table.pointee.multi_init() else { return .failure(.other("libcurl: out of memory")) }
            return .success(Bell(curl: curl, multi: multi))
        }
        switch opened {
        case .success(let bell):
            mailbox.withLock { $0.bell = bell }
            perform(with: bell)
        case .failure(let error):
            // The next request starts a thread again.
            let waiting = mailbox.withLock { box in
                defer { (box.waiting, box.isRunning) = ([], false) }
                return box.waiting
            }
            for job in waiting { job.answer.resume(returning: .failure(error)) }
        }
    }

    private func perform(with bell: Bell) {
        let (curl, multi) = (bell.curl, bell.multi)
        var running: [UnsafeMutableRawPointer: (transfer: Transfer, ticket: Ticket, answer: Answer)] = [:]

        func end(_ easy: UnsafeMutableRawPointer, _ result: (Transfer) -> Result<HTTPAnswer, TransportError>) {
            guard let job = running.removeValue(forKey: easy) else { return }
            let answer = result(job.transfer)
            _ = curl.table.pointee.multi_remove_handle(multi, easy)
            job.answer.resume(returning: answer)
        }

        while true {
            let (new, cancelled, isStopping) = mailbox.withLock { box in
                defer { box.waiting = [] }
                return (box.waiting, box.cancelled, box.isStopping)
            }
            for job in new {
                guard !isStopping, !cancelled.contains(job.ticket) else {
                    job.answer.resume(returning: .failure(.cancelled))
                    continue
                }
                guard let transfer = Transfer(job.request, identity: identity, curl: curl),
                    curl.table.pointee.multi_add_handle(multi, transfer.easy) == CURLM_OK
                else {
                    job.answer.resume(returning: .failure(.other("libcurl: out of memory")))
                    continue
                }
                running[transfer.easy] = (transfer, job.ticket, job.answer)
            }
            for (easy, job) in running where isStopping || cancelled.contains(job.ticket) {
                end(easy) { _ in .failure(.cancelled) }
            }
            if isStopping { break }
            var active: Int32 = 0
            _ = curl.table.pointee.multi_perform(multi, &active)
            var code = CURLE_OK
            while let easy = ccurl_next_ended(curl.table, multi, &code) { end(easy) { $0.result(code) } }
            _ = curl.table.pointee.multi_poll(multi, nil, 0, 60_000, nil)
        }
        mailbox.withLock { $0.bell = nil }
        _ = curl.table.pointee.multi_cleanup(multi)
    }
}

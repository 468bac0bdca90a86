import Bookplate
import Foundation
import Library
import Station
import Testing

@testable import ScanCommand

private let dune = "9780441013593"
private let emma = "9780141439587"

@Suite(.timeLimit(.minutes(1))) struct `The live station's loop` {
    // MARK: Keys

    @Test func `holds a key for the row that was on the card when it was pressed`() async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        desk.type("s", at: .seconds(5))
        let save = try await desk.act()
        desk.type("k", at: .seconds(5))
        let second = try await desk.capture(emma, at: .seconds(6))
        await desk.perform(save)
        #expect(!desk.loop.isActing, "the book was saved already: nothing to skip")
        #expect(desk.loop.state.batch[first]?.end != nil && desk.loop.state.batch[second]?.end == .none)
    }

    @Test func `lets held keys follow held moves`() async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        _ = try await desk.capture(emma, at: .seconds(2))
        desk.type("s", at: .seconds(5))
        let save = try await desk.act()
        desk.press(.down, at: .seconds(5))
        desk.type("k", at: .seconds(5))
        await desk.perform(save)
        #expect(try await desk.act().skipped == first)
    }

    @Test(arguments: [(Duration.milliseconds(200), true), (.milliseconds(600), false)])
    func `means the book before when a capture changed the card just before the key`(
        after gap: Duration, isFirst: Bool
    ) async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        let second = try await desk.capture(emma, at: .seconds(9))
        desk.type("k", at: .seconds(9) + gap)
        #expect(try await desk.act().skipped == (isFirst ? first : second))
    }

    @Test(arguments: ["", "?", "97"])
    func `takes a handheld scanner's number whatever is open`(typedBefore: String) async throws {
        var desk = try LoopDesk()
        desk.type(typedBefore, at: .seconds(1), every: .milliseconds(300))
        desk.type(emma, at: .seconds(5), every: .milliseconds(5))
        desk.press(.enter, at: .seconds(5) + .milliseconds(80))
        #expect(try await desk.detection().isbn.digits == emma)
        #expect(desk.loop.state.pending.count == 1)
    }

    @Test func `takes the numbers out of what is pasted, and no letter of it for a key`() async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        desk.press(.paste("Kansas cake: skip, quit"), at: .seconds(5))
        #expect(!desk.loop.isActing && !desk.loop.isClosing && desk.loop.state.batch[first]?.end == .none)
        #expect(desk.loop.state.pending.isEmpty)
        desk.press(.paste("ISBN \(emma) (paperback)\r\n978-0-14-143951-8\n"), at: .seconds(6))
        #expect(desk.loop.state.pending.map(\.isbn.digits) == [emma, "9780141439518"])
    }

    @Test func `tells bursts by when the keys were read, not by when it comes to them`() async throws {
        var desk = try LoopDesk()
        let id = try await desk.capture(dune, at: .seconds(1))
        desk.type("e", at: .seconds(3))
        desk.now = .seconds(20)
        desk.type("19841984", at: .seconds(4), every: .milliseconds(200))
        desk.press(.enter, at: .seconds(7))
        #expect(desk.loop.state.pending.isEmpty, "a person typed it into the form")
        guard case .edit(id, let form) = desk.loop.state.mode else { return #expect(Bool(false)) }
        #expect(form.rows.contains { $0.text.hasSuffix("19841984") })
    }

    @Test func `closes when the terminal is gone, whatever is open`() async throws {
        var desk = try LoopDesk()
        _ = try await desk.capture(dune, at: .seconds(1))
        desk.type("e", at: .seconds(3))
        desk.take(.keysOver)
        #expect(desk.loop.isClosing)
    }

    // MARK: Yes in advance

    @Test func `saves another copy with --yes --another-copy, on the word given in advance`() async throws {
        var desk = try LoopDesk(savesAtOnce: true, anotherCopy: true)
        _ = try await desk.capture(dune, at: .seconds(1))
        await desk.perform(try await desk.act())
        _ = try await desk.capture(dune, at: .seconds(2))
        let again = try await desk.act()
        guard case .save(let wanted) = again else { return #expect(Bool(false)) }
        #expect(wanted.map(\.isAnotherCopy) == [true] && wanted.map(\.confirmer) == [.advance])
        await desk.perform(again)
        #expect(desk.loop.state.batch.counts.saved == 2)
    }

    @Test func `saves on a person's word what the person ticked`() async throws {
        var desk = try LoopDesk()
        _ = try await desk.capture(dune, at: .seconds(1))
        desk.type("a", at: .seconds(2))
        guard case .save(let wanted) = try await desk.act() else { return #expect(Bool(false)) }
        #expect(wanted.map(\.confirmer) == [.person] && wanted.map(\.isAnotherCopy) == [false])
    }

    // MARK: Undo

    @Test func `opens the rows of an act that was undone elsewhere`() async throws {
        var desk = try LoopDesk()
        let id = try await desk.capture(dune, at: .seconds(1))
        let change = try await desk.save()
        _ = try await desk.run.history.undo(change, at: .now)
        desk.type("u", at: .seconds(3))
        await desk.perform(try await desk.act())
        #expect(desk.loop.state.batch[id]?.end == .none && desk.loop.state.batch.acts.isEmpty)
    }

    @Test func `undoes what can be undone, and reaches what lies under a refused act`() async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        _ = try await desk.save()
        let second = try await desk.capture(emma, at: .seconds(3))
        _ = try await desk.save()
        try await desk.change(emma)
        desk.type("u", at: .seconds(5))
        await desk.perform(try await desk.act())
        #expect(desk.loop.state.message?.text.contains("undo that first") == true)
        #expect(desk.loop.state.batch[second]?.end != nil)
        desk.type("U", at: .seconds(6))
        await desk.perform(try await desk.act())
        #expect(desk.loop.state.batch[first]?.end == .none, "it went on past the refused one")
        #expect(desk.loop.state.message?.text.contains("undo that first") == true)
        #expect(desk.loop.state.batch.acts.map(\.items) == [[second]])
    }

    @Test func `undoes the older act with the next u when the newest was refused`() async throws {
        var desk = try LoopDesk()
        let first = try await desk.capture(dune, at: .seconds(1))
        _ = try await desk.save()
        _ = try await desk.capture(emma, at: .seconds(3))
        _ = try await desk.save()
        try await desk.change(emma)
        for second in 5...6 {
            desk.type("u", at: .seconds(second))
            await desk.perform(try await desk.act())
        }
        #expect(desk.loop.state.batch[first]?.end == .none)
    }

    // MARK: Presets

    @Test func `tries again to give a preset that could not be given`() async throws {
        var desk = try LoopDesk()
        let id = try await desk.capture(dune, at: .seconds(1))
        desk.loop.state.batch.preset = Preset(shelf: "Attic")
        desk.take(.tick)
        guard case .give(_, [id]) = try await desk.act() else { return #expect(Bool(false)) }
        desk.take(.acted(.failed(CommandError(.locked, "locked"))))
        desk.type("p", at: .seconds(3))
        desk.now += .seconds(6)
        desk.take(.tick)
        let again = try await desk.act()
        guard case .give(_, [id]) = again else { return #expect(Bool(false)) }
        await desk.perform(again)
        guard case .preset = desk.loop.state.mode else { return #expect(Bool(false), "the person's form stays open") }
        desk.take(.tick)
        #expect(!desk.loop.isActing)
        #expect(desk.loop.state.batch[id]?.candidate.item.preset.shelf == "Attic")
    }

    // MARK: On the way to the disk

    @Test func `shows what is on the way to the disk, and why, until it is there`() async throws {
        var desk = try LoopDesk()
        desk.type(emma, at: .seconds(1))
        desk.press(.enter, at: .seconds(1))
        #expect(desk.text.contains("978-0-14-143958-7") && desk.text.contains("ON THE WAY"))
        desk.take(.captureWaits(CommandError(.locked, "The library is locked.")))
        desk.now += .seconds(60)
        desk.take(.tick)
        #expect(desk.text.contains("The library is locked."), "it stays while it lasts")
        let items = try await desk.run.flow.capture([desk.detection()])
        desk.take(.captured(items.map { Candidate(item: $0) }))
        #expect(!desk.text.contains("locked") && desk.text.contains("TAKEN"))
    }

    @Test func `names what could not be captured, and what came too late`() async throws {
        var desk = try LoopDesk()
        desk.type(emma, at: .seconds(1))
        desk.press(.enter, at: .seconds(1))
        desk.take(.notCaptured([try await desk.detection()], CommandError(.inputOutput, "The disk is broken.")))
        #expect(desk.text.contains("not captured: 978-0-14-143958-7"))
        desk.type("q", at: .seconds(5))
        desk.take(.scanner(.line(dune)))
        #expect(desk.loop.lastWords.contains { $0.contains("not captured") && $0.contains("978-0-441-01359-3") })
    }
}

// MARK: The loop on a library in memory

/// The loop with what it asks for in the test's hands.
private struct LoopDesk {
    let run: CaptureRun
    let library: LibraryFile
    var loop: LiveLoop
    /// When the loop comes to an event.
    var now: Duration = .zero
    private let detections: AsyncStream<[Detection]>
    private let acts: AsyncStream<LiveAct>

    init(savesAtOnce: Bool = false, anotherCopy: Bool = false) throws {
        library = try LibraryFile.inMemory(station: "desk")
        let report = ExitReport()
        run = CaptureRun(
            flow: CaptureFlow(intake: library, shelf: library, lookup: EverySource()), history: library,
            preset: Preset(),
            anotherCopy: anotherCopy, answer: .leave, events: EventPrinter(json: true, report: report), report: report)
        let (detections, sight) = AsyncStream.makeStream(of: [Detection].self)
        let (acts, act) = AsyncStream.makeStream(of: LiveAct.self)
        (self.detections, self.acts) = (detections, acts)
        let outlets = LiveOutlets(
            detections: sight, lookups: AsyncStream.makeStream(of: LookupRequest.self).continuation, acts: act,
            sounds: Sounds(isMuted: true, environment: [:]) {}, preset: SharedValue(Preset()))
        var state = LiveState(batch: Batch())
        state.savesAtOnce = savesAtOnce
        loop = LiveLoop(state: state, run: run, outlets: outlets)
    }

    mutating func take(_ event: LiveEvent) { loop.take(event, at: now) }

    /// - Parameter time: when it is read; the loop comes to it at once.
    mutating func press(_ key: Keyboard.Key, at time: Duration) {
        now = max(now, time)
        take(.key(key, at: time))
    }

    mutating func type(_ text: String, at time: Duration, every gap: Duration = .zero) {
        for (index, character) in text.enumerated() { press(.character(character), at: time + gap * index) }
    }

    /// A book is held up, captured and found.
    mutating func capture(_ number: String, at time: Duration) async throws -> ID<IntakeItem> {
        let detection = Detection(isbn: try ISBN(number), raw: number, origin: .camera)
        let items = try await run.flow.capture([detection], preset: loop.state.batch.preset)
        now = max(now, time)
        take(.captured(try await run.flow.recognise(items)))
        for try await candidate in run.flow.candidates(items) { take(.known(candidate)) }
        return items[0].id
    }

    /// What the loop wants done; waits for it.
    func act() async throws -> LiveAct {
        var acts = acts.makeAsyncIterator()
        return try #require(await acts.next())
    }

    func detection() async throws -> Detection {
        var detections = detections.makeAsyncIterator()
        return try #require(await detections.next()?.first)
    }

    mutating func perform(_ act: LiveAct) async { take(.acted(await run.perform(act))) }

    /// The person saves the book on the card.
    mutating func save() async throws -> ID<Change> {
        type("s", at: now + .seconds(1))
        await perform(try await act())
        return try #require(loop.state.batch.acts.last?.change)
    }

    /// Another program changes the book after it was saved.
    func change(_ number: String) async throws {
        let isbn = try ISBN(number)
        let book = try #require(try await library.books(with: [isbn])[isbn]?.first)
        _ = try await library.update(book.id, at: .now) { $0.copy.shelf = "Elsewhere" }
    }

    var text: String {
        LiveScreen(state: loop.state, columns: 80, rows: 24).lines()
            .map { $0.text(columns: 80, style: Style(isOn: false), isASCII: false) }.joined(separator: "\n")
    }
}

extension LiveAct {
    fileprivate var skipped: ID<IntakeItem>? { if case .skip(let candidate) = self { candidate.item.id } else { nil } }
}

/// Knows every number by a title.
private struct EverySource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { answers in
            for isbn in isbns {
                var metadata = Metadata()
                metadata.title = "Title of \(isbn.digits)"
                metadata.attribute(to: .openLibrary)
                answers.yield(LookupAnswer(isbn: isbn, outcome: .found(metadata, from: .openLibrary)))
            }
            answers.finish()
        }
    }
}

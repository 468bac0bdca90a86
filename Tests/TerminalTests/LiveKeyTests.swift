import Async
import Bookplate
import Foundation
import Library
import Testing

@testable import Terminal
@testable import Station

private let dune = "9780441013593"
private let emma = "9780141439587"

@Suite(.timeLimit(.minutes(5))) struct `The live terminal` {
    // MARK: Keys

    @Test func `handles a key for the row that was on the card when it was pressed`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        try await bench.holdingActs {
            await bench.type("s", at: .seconds(5))
            await bench.type("k", at: .seconds(5))
            _ = try await bench.capture(emma, at: .seconds(6))
        }
        let state = await bench.handled()
        #expect(state.batch.counts.saved == 1 && state.batch.counts.skipped == 0, "it was saved, so it is not skipped")
        #expect(state.batch[first]?.end != nil && state.batch.open.count == 1)
    }

    @Test func `applies a key after a move to the row that the move led to`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        let second = try await bench.capture(emma, at: .seconds(2))
        try await bench.holdingActs {
            await bench.type("s", at: .seconds(5))
            await bench.press(.down, at: .seconds(5))
            await bench.type("k", at: .seconds(5))
        }
        let state = await bench.handled()
        #expect(state.batch[first]?.end == .skipped && state.batch[second]?.end != .skipped)
    }

    @Test(arguments: [(Duration.milliseconds(200), true), (.milliseconds(600), false)])
    func `applies a key to the book before if a capture replaced the card just before the key`(
        after gap: Duration, isFirst: Bool
    ) async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        let second = try await bench.capture(emma, at: .seconds(9))
        await bench.type("k", at: .seconds(9) + gap)
        let state = await bench.handled()
        #expect(state.batch[isFirst ? first : second]?.end == .skipped)
        #expect(state.batch.counts.skipped == 1)
    }

    @Test(arguments: ["", "?", "97"])
    func `captures a handheld scanner's number whatever is open`(typedBefore: String) async throws {
        let bench = try LiveBench()
        await bench.type(typedBefore, at: .seconds(1), every: .milliseconds(300))
        await bench.type(emma, at: .seconds(5), every: .milliseconds(5))
        await bench.press(.enter, at: .seconds(5) + .milliseconds(80))
        _ = await bench.handled()
        #expect(bench.station.pendingDetections.map(\.isbn.digits) == [emma])
    }

    @Test(arguments: ["\n", "\t", "\r\n", ""])
    func `refuses a scanned code that is no book's, and handles none of its letters as a key`(end: String) async throws
    {
        for code in ["asin/B00K0IAZ6Y", "URN:UUID:6ba7b810", "https://example.org/quick/skus?ka=U"] {
            let bench = try LiveBench()
            let first = try await bench.capture(dune, at: .seconds(1))
            _ = try await bench.save()
            _ = try await bench.capture(emma, at: .seconds(3))
            let before = await bench.handled()
            #expect(before.batch.counts.ticked == 1)
            await bench.scan(code + end, at: .seconds(9))
            let state = try await bench.state { $0.message?.text.contains("✕ \(code.prefix(30))") == true }
            #expect(state.batch.counts == before.batch.counts, "\(code)")
            #expect(state.batch[first]?.end != nil && bench.station.pendingDetections.isEmpty, "\(code)")
            guard case .list = state.mode else { return #expect(Bool(false), "\(code)") }
            #expect(await !bench.terminal.isClosing)
        }
    }

    @Test(arguments: [
        ("p", "https://example.org/shelf-7"), ("p", "asin/B00K0IAZ6Y"), ("e", "https://example.org/title"),
        ("e", "WIFI:T:WPA;S:home;;"), ("97", "https://example.org/978"),
    ])
    func `puts no scanned address into a field, and leaves the field open`(key: String, code: String) async throws {
        let bench = try LiveBench()
        _ = try await bench.capture(dune, at: .seconds(1))
        await bench.type(key, at: .seconds(5), every: .seconds(1))
        let before = await bench.handled()
        await bench.scan(code + "\n\n", at: .seconds(9))
        let state = try await bench.state { $0.message?.text.contains("✕ \(code)") == true }
        #expect(state.hasField && "\(state.mode)" == "\(before.mode)")
        #expect(state.batch.preset == Preset())
        #expect(await bench.text.contains("✕ \(code)"))
    }

    @Test func `types a text expander's words into the field that has the focus`() async throws {
        let bench = try LiveBench()
        await bench.type("p", at: .seconds(5))
        await bench.scan("Living room\nscifi, to lend\n", at: .seconds(6))
        guard case .preset(let form) = await bench.handled().mode else { return #expect(Bool(false)) }
        #expect(form.texts.prefix(2) == ["Living room", "scifi, to lend"] && form.index == 2)
    }

    @Test(arguments: ["urn:isbn:\(emma)", "https://example.org/isbn/\(emma)", "\(emma)51299"])
    func `takes the number that a scanned code names`(code: String) async throws {
        let bench = try LiveBench()
        await bench.scan(code + "\n", at: .seconds(5))
        _ = await bench.handled()
        let pending = bench.station.pendingDetections
        #expect(pending.map(\.isbn.digits) == [emma] && pending.map(\.raw) == [code])
        #expect(pending.map(\.origin) == [.scanner])
    }

    @Test(arguments: [(Duration.milliseconds(349), false), (.milliseconds(350), true)])
    func `acts on the first card only if a person can have read it`(after gap: Duration, acts: Bool) async throws {
        let bench = try LiveBench()
        let id = try await bench.capture(dune, at: .seconds(1))
        await bench.type("k", at: .seconds(1) + gap)
        let state = await bench.handled()
        #expect((state.batch[id]?.end == .skipped) == acts)
        #expect((state.message?.text.contains("press the key again") == true) != acts)
    }

    @Test(arguments: [(Duration.milliseconds(349), 0), (.milliseconds(350), 2)])
    func `saves the ticked books only if a person can have seen which they are`(after gap: Duration, saved: Int)
        async throws
    {
        let bench = try LiveBench()
        _ = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.capture(emma, at: .seconds(9))
        await bench.type("a", at: .seconds(9) + gap)
        let state = await bench.handled()
        #expect(state.batch.counts.saved == saved)
        #expect((state.message?.text.contains("The ticks changed just before this key") == true) == (saved == 0))
    }

    @Test func `saves what the person has just ticked`() async throws {
        let bench = try LiveBench()
        let id = try await bench.capture(dune, at: .seconds(1))
        await bench.type(" ", at: .seconds(5))
        #expect(await bench.handled().batch.counts.ticked == 0)
        await bench.type(" ", at: .seconds(6))
        #expect(await bench.handled().batch.counts.ticked == 1)
        await bench.type("a", at: .milliseconds(6100))
        #expect(await bench.handled().batch[id]?.end != nil)
    }

    @Test func `saves one book if the key s is read several times at once`() async throws {
        let bench = try LiveBench()
        for (second, number) in [dune, emma, "9780141439518"].enumerated() {
            _ = try await bench.capture(number, at: .seconds(second + 1))
        }
        await bench.press(.down, at: .seconds(8))
        await bench.type("sss", at: .seconds(9), every: .milliseconds(30))
        let state = await bench.handled()
        #expect(state.batch.counts.saved == 1 && state.batch.open.count == 2)
        // The card of the next book is open, and takes a key once it can have been read.
        await bench.type("s", at: .seconds(10))
        #expect(await bench.handled().batch.counts.saved == 2)
    }

    @Test func `hints at the keys of a book when they act`() async throws {
        let bench = try LiveBench()
        _ = try await bench.capture(dune, at: .seconds(1))
        let early = await bench.text
        #expect(!early.contains("[s] save") && !early.contains("[a] save all"))
        bench.time.withLock { $0 = .seconds(2) }
        await bench.terminal.refresh()
        let late = await bench.text
        #expect(late.contains("[s] save") && late.contains("[a] save all 1"))
    }

    @Test func `captures the numbers in pasted text, and handles no letter of it as a key`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        await bench.press(.paste("Kansas cake: skip, quit"), at: .seconds(5))
        let state = await bench.handled()
        #expect(await !bench.terminal.isClosing)
        #expect(state.batch[first]?.end == .none && bench.station.pendingDetections.isEmpty)
        await bench.press(.paste("ISBN \(emma) (paperback)\r\n978-0-14-143951-8\n"), at: .seconds(6))
        _ = await bench.handled()
        #expect(bench.station.pendingDetections.map(\.isbn.digits) == [emma, "9780141439518"])
    }

    @Test func `types into the form what a person types slowly, however late the keys are handled`() async throws {
        let bench = try LiveBench()
        let id = try await bench.capture(dune, at: .seconds(1))
        await bench.type("e", at: .seconds(3))
        bench.time.withLock { $0 = .seconds(20) }
        await bench.type("19841984", at: .seconds(4), every: .milliseconds(200))
        await bench.press(.enter, at: .seconds(7))
        let state = await bench.handled()
        #expect(bench.station.pendingDetections.isEmpty, "a person typed it into the form")
        guard case .edit(id, let form) = state.mode else { return #expect(Bool(false)) }
        #expect(form.rows.contains { $0.text.hasSuffix("19841984") })
    }

    @Test func `refuses a date that no book can have, as pages and options do`() async throws {
        let bench = try LiveBench()
        _ = try await bench.capture(dune, at: .seconds(1))
        await bench.type("e", at: .seconds(3))
        for _ in 0..<4 { await bench.press(.enter, at: .seconds(4)) }
        await bench.type("2021-02-30", at: .seconds(5), every: .milliseconds(200))
        await bench.press(.enter, at: .seconds(9))
        let state = await bench.handled()
        #expect(state.message?.text.contains("2021-02-30") == true)
        guard case .edit = state.mode else { return #expect(Bool(false), "the form stays open") }
    }

    // MARK: Yes in advance

    @Test func `saves another copy with --yes --another-copy`() async throws {
        let bench = try LiveBench(saving: Station.AutomaticSaving(anotherCopy: true, isUnattended: false))
        _ = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.state { $0.batch.counts.saved == 1 }
        _ = try await bench.capture(dune, at: .seconds(2))
        _ = try await bench.state { $0.batch.counts.saved == 2 }
        let copies = try await bench.library.books(with: [ISBN(dune)]).values.joined()
        #expect(copies.count == 2)
    }

    @Test func `does not save a book again with --yes after a person took it back`() async throws {
        let bench = try LiveBench(saving: Station.AutomaticSaving(anotherCopy: false, isUnattended: false))
        let first = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.state { $0.batch.counts.saved == 1 }
        await bench.type("u", at: .seconds(3))
        _ = await bench.handled()
        _ = try await bench.capture(emma, at: .seconds(4))
        let state = try await bench.state { $0.batch.counts.saved == 1 }
        #expect(state.batch[first]?.end == .none)
    }

    @Test(arguments: ["u", "U"])
    func `undoes no save that --yes made before the person can have seen it`(key: String) async throws {
        let bench = try LiveBench(saving: Station.AutomaticSaving(anotherCopy: false, isUnattended: false))
        _ = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.state { $0.batch.counts.saved == 1 }
        _ = try await bench.capture(emma, at: .seconds(9))
        _ = try await bench.state { $0.batch.counts.saved == 2 }
        await bench.type(key, at: .milliseconds(9200))
        var state = await bench.handled()
        #expect(state.batch.counts.saved == 2)
        #expect(state.message?.text.contains("A book was saved just before this key") == true)
        await bench.type(key, at: .milliseconds(9600))
        state = await bench.handled()
        #expect(state.batch.counts.saved == (key == "u" ? 1 : 0))
    }

    // MARK: Undo

    @Test(arguments: [Duration.milliseconds(10), .milliseconds(100)])
    func `undoes the person's own save at once`(after gap: Duration) async throws {
        let bench = try LiveBench()
        let id = try await bench.capture(dune, at: .seconds(1))
        await bench.type("s", at: .seconds(5))
        if gap > KeyBurst.Recogniser.gap { #expect(await bench.handled().batch[id]?.end != nil) }
        await bench.type("u", at: .seconds(5) + gap)
        let state = await bench.handled()
        #expect(state.batch[id]?.end == nil && state.message?.text.contains("undone") == true)
    }

    @Test func `opens the rows of an act that was undone elsewhere`() async throws {
        let bench = try LiveBench()
        let id = try await bench.capture(dune, at: .seconds(1))
        let change = try await bench.save()
        _ = try await bench.library.undo(change, at: .now)
        await bench.type("u", at: .seconds(3))
        let state = await bench.handled()
        #expect(state.batch[id]?.end == .none && state.batch.acts.isEmpty)
    }

    @Test func `undoes the acts that can be undone, also those before a refused act`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.save()
        let second = try await bench.capture(emma, at: .seconds(3))
        _ = try await bench.save()
        try await bench.change(emma)
        await bench.type("u", at: .seconds(5))
        var state = await bench.handled()
        #expect(state.message?.text.contains("undo the later change first") == true)
        #expect(state.batch[second]?.end != nil)
        await bench.type("U", at: .seconds(6))
        state = await bench.handled()
        #expect(state.batch[first]?.end == .none, "the refused act is skipped")
        #expect(state.message?.text.contains("undo the later change first") == true)
        #expect(state.batch.acts.map(\.items) == [[second]])
    }

    @Test func `undoes the older act with the next u when the newest was refused`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.save()
        _ = try await bench.capture(emma, at: .seconds(3))
        _ = try await bench.save()
        try await bench.change(emma)
        await bench.type("uu", at: .seconds(5), every: .seconds(1))
        #expect(await bench.handled().batch[first]?.end == .none)
    }

    @Test func `redoes with y what u has undone`() async throws {
        let bench = try LiveBench()
        let first = try await bench.capture(dune, at: .seconds(1))
        _ = try await bench.save()
        await bench.type("u", at: .seconds(3))
        #expect(await bench.handled().batch[first]?.end == .none)
        #expect(await bench.text.contains("[y] redo"))
        await bench.type("y", at: .seconds(5))
        #expect(await bench.handled().batch[first]?.end != .none)
        #expect(await bench.text.contains("↷ redone: 1 book"))
        await bench.type("y", at: .seconds(7))
        #expect(await bench.handled().message?.text.contains("There is nothing to redo") == true)
    }

    // MARK: Pending detections

    @Test func `shows what is not on disk yet until it is`() async throws {
        let bench = try LiveBench()
        await bench.type(emma, at: .seconds(1))
        await bench.press(.enter, at: .seconds(1))
        _ = await bench.handled()
        #expect(await bench.text.contains("978-0-14-143958-7"))
        #expect(await bench.text.contains("NOT ON DISK YET"))
        try await bench.running {
            _ = try await bench.state { $0.pending.isEmpty && $0.batch.rows.count == 1 }
            #expect(await !bench.text.contains("NOT ON DISK YET"))
        }
    }

    @Test func `does not end with its stream before the last book is on the card`() async throws {
        let held = HeldShelf()
        let bench = try LiveBench(isStream: true, shelf: held)
        try await bench.running {
            try await held.turn.withPermit {
                bench.station.enqueue(Detection(isbn: try ISBN(emma), raw: emma, origin: .camera))
                for await _ in held.asked { break }
                // The book is on disk, but not yet compared with the library.
                await bench.terminal.handle(.sourceEnded(nil))
                #expect(await !bench.terminal.isClosing)
            }
            _ = try await bench.state { $0.batch.counts.lookingUp == 0 && $0.batch.open.count == 1 }
            #expect(await !bench.terminal.isClosing)
            await bench.type("k", at: .seconds(5))
            _ = await bench.handled()
            _ = try await bench.state { _ in await bench.terminal.isClosing }
        }
    }
}

/// A library that has no books, and says so only when the test lets it.
private struct HeldShelf: Shelf {
    let turn = AsyncSemaphore()
    /// An element for each time that the library is asked for books.
    let asked: AsyncStream<Void>
    private let asking: AsyncStream<Void>.Continuation

    init() { (asked, asking) = AsyncStream.makeStream() }

    func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]] {
        asking.yield()
        return await turn.withPermit { [:] }
    }

    func add(_ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date) async throws -> [SaveResult] { [] }
    func editions(like metadata: Metadata, excluding isbn: ISBN?) async throws -> [Book] { [] }
    func complete(_ records: [ISBN: Metadata], at now: Date) async throws -> Int { 0 }
}

/// A terminal without a screen on a library in memory. The test passes keys and news to it.
private final class LiveBench: Sendable {
    let library: LibraryFile
    let station: Station
    let terminal: LiveTerminal
    /// The terminal's clock.
    let time = SharedValue<Duration>(.zero)
    private let recogniser = SharedValue(KeyBurst.Recogniser())
    private let lastKey = SharedValue<Duration>(.zero)

    /// - Parameter shelf: nil for the library's own.
    init(saving: Station.AutomaticSaving? = nil, isStream: Bool = false, shelf: (any Shelf)? = nil) throws {
        library = try LibraryFile.inMemory(device: "desk")
        var options = Station.Options()
        options.saving = saving
        station = Station(
            flow: CaptureFlow(queue: library, shelf: shelf ?? library, lookup: EverySource()), history: library,
            options: options)
        terminal = LiveTerminal(
            station: station, keyboard: nil, sounds: Sounds(isMuted: true, environment: [:]) {},
            events: EventPrinter(json: true, undoHint: "", describe: { "\($0)" }, report: { _ in }),
            isStream: isStream, now: { [time] in time.value })
    }

    /// - Parameter time: when the key is read.
    func press(_ key: Keyboard.Key, at time: Duration) async {
        if time - lastKey.exchange(time) > KeyBurst.Recogniser.gap { await settleKeys() }
        self.time.withLock { $0 = max($0, time) }
        await receive { $0.append(Keyboard.Press(key: key, time: time)) }
    }

    /// Lets so much time pass that no burst continues.
    func settleKeys() async { await receive { $0.settle() } }

    private func receive(_ change: (inout KeyBurst.Recogniser) -> [Keyboard.Press]) async {
        var presses: [Keyboard.Press] = []
        recogniser.withLock { presses = change(&$0) }
        for press in presses { await terminal.receive(press.key, at: press.time) }
    }

    func type(_ text: String, at time: Duration, every gap: Duration = .zero) async {
        for (index, character) in text.enumerated() { await press(.character(character), at: time + gap * index) }
    }

    /// Types a line as fast as a scanner does.
    func scan(_ text: String, at time: Duration) async {
        for (index, scalar) in text.unicodeScalars.enumerated() {
            let key: Keyboard.Key =
                scalar == "\t" ? .tab : scalar == "\n" || scalar == "\r" ? .enter : .character(Character(scalar))
            await press(key, at: time + .milliseconds(8 * index))
        }
        await settleKeys()
    }

    /// Returns the state after all keys were handled.
    func handled() async -> LiveState {
        await settleKeys()
        await terminal.handledKeys()
        return await terminal.state
    }

    /// Passes news to the terminal until its state is as expected.
    func state(_ isRight: (LiveState) async -> Bool) async throws -> LiveState {
        await terminal.refresh()
        if await isRight(terminal.state) { return await terminal.state }
        for await news in station.news {
            await terminal.handle(news)
            if await isRight(terminal.state) { return await terminal.state }
        }
        throw CancellationError()
    }

    /// Captures a book and waits until it is found.
    func capture(_ number: String, at time: Duration) async throws -> ID<QueueItem> {
        self.time.withLock { $0 = max($0, time) }
        let detection = Detection(isbn: try ISBN(number), raw: number, origin: .camera)
        let id = try await station.capture([detection])[0].id
        _ = try await state { $0.batch[id]?.isLookingUp == false }
        return id
    }

    /// Keeps the station's acts waiting while the body runs.
    func holdingActs(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await station.acts.withPermit {
            try await body()
            await settleKeys()
        }
    }

    /// Runs the station while the body runs.
    func running(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let running = Task { await station.run() }
        try await body()
        running.cancel()
        await running.value
    }

    /// Saves the book on the card, as a person.
    func save() async throws -> ID<Change> {
        await type("s", at: time.value + .seconds(1))
        return try #require(await handled().batch.acts.last?.change)
    }

    /// Changes the book after it was saved, as another program.
    func change(_ number: String) async throws {
        let isbn = try ISBN(number)
        let book = try #require(try await library.books(with: [isbn])[isbn]?.first)
        _ = try await library.update(book.id, at: .now) { $0.copy.shelf = "Elsewhere" }
    }

    var text: String {
        get async {
            LiveScreen(state: await terminal.state, columns: 80, rows: 24).lines()
                .map { $0.text(columns: 80, style: Style(isOn: false), isASCII: false) }.joined(separator: "\n")
        }
    }
}

/// Knows every number by a title.
private struct EverySource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
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

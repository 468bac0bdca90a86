import CInput
import Testing

@testable import Capture

/// Key events as the kernel reports them, each with its scan code and its SYN_REPORT.
private struct Typing {
    private(set) var events: [KeyEvent] = []
    private var time: Duration = .seconds(1000)

    static let enter = Typing().press(KEY_ENTER)

    func wait(_ time: Duration) -> Typing {
        var typing = self
        typing.time += time
        return typing
    }

    func event(_ type: Int32, _ code: Int32, _ value: Int32) -> Typing {
        var typing = self
        typing.events.append(KeyEvent(type: type, code: code, value: value, time: time))
        return typing
    }

    func key(_ code: Int32, _ value: Int32) -> Typing {
        event(EV_MSC, MSC_SCAN, 0x70000 + code).event(EV_KEY, code, value).event(EV_SYN, SYN_REPORT, 0)
            .wait(.milliseconds(2))
    }

    func press(_ codes: Int32...) -> Typing { codes.reduce(self) { $0.key($1, 1).key($1, 0) } }

    func shift(_ codes: Int32...) -> Typing {
        codes.reduce(key(KEY_LEFTSHIFT, 1)) { $0.key($1, 1).key($1, 0) }.key(KEY_LEFTSHIFT, 0)
    }

    /// Types digits on the upper row.
    func digits(_ text: String) -> Typing {
        text.utf8.reduce(self) { typing, digit in
            typing.press(digit == UInt8(ascii: "0") ? KEY_0 : KEY_1 + Int32(digit - UInt8(ascii: "1")))
        }
    }

    func dropped() -> Typing { event(EV_SYN, SYN_DROPPED, 0) }

    func outputs() -> [KeyLine.Output] {
        var line = KeyLine()
        return events.compactMap { line.consume($0) }
    }
}

private let isbn = "9780441478125"
private let typed: [(name: String, typing: Typing, outputs: [KeyLine.Output])] = [
    ("a number", Typing().digits(isbn).press(KEY_ENTER), [.line(isbn)]),
    ("two numbers", Typing().digits("12").press(KEY_ENTER).digits("34").press(KEY_ENTER), [.line("12"), .line("34")]),
    (
        "an AIM prefix, E with Shift",
        Typing().press(KEY_RIGHTBRACE).shift(KEY_E).press(KEY_0).digits(isbn).press(KEY_ENTER),
        [.line("]E0" + isbn)]
    ),
    ("X", Typing().digits("080442957").shift(KEY_X).press(KEY_ENTER), [.line("080442957X")]),
    ("x and hyphens", Typing().press(KEY_0, KEY_MINUS, KEY_X, KEY_ENTER), [.line("0-x")]),
    (
        "the right Shift", Typing().key(KEY_RIGHTSHIFT, 1).press(KEY_X).key(KEY_RIGHTSHIFT, 0).press(KEY_TAB),
        [.line("X")]
    ),
    (
        "both Shifts, one let go", Typing().key(KEY_RIGHTSHIFT, 1).shift(KEY_X).press(KEY_X, KEY_ENTER), [.line("XX")]
    ),
    (
        "the keypad",
        Typing().press(
            KEY_KP9, KEY_KP7, KEY_KP8, KEY_KPMINUS, KEY_KP0, KEY_KP1, KEY_KP2, KEY_KP3, KEY_KP4, KEY_KP5, KEY_KP6
        )
        .press(KEY_KPENTER), [.line("978-0123456")]
    ),
    (
        "signs", Typing().shift(KEY_1, KEY_MINUS, KEY_APOSTROPHE).press(KEY_SLASH, KEY_SPACE, KEY_DOT, KEY_TAB),
        [.line("!_\"/ .")]
    ),
    ("Tab and Enter after it", Typing().digits("1").press(KEY_TAB, KEY_ENTER), [.line("1")]),
    ("Enter alone", Typing().press(KEY_ENTER, KEY_KPENTER, KEY_TAB), []),
    (
        "a key that is held", Typing().key(KEY_7, 1).key(KEY_7, 2).key(KEY_7, 2).key(KEY_7, 0).press(KEY_ENTER),
        [.line("7")]
    ),
    (
        "releases of keys that went down before", Typing().key(KEY_ENTER, 0).key(KEY_5, 0).press(KEY_6, KEY_ENTER),
        [.line("6")]
    ),
    (
        "keys that type nothing", Typing().press(KEY_1, KEY_F1, KEY_CAPSLOCK, KEY_VOLUMEUP, KEY_2, KEY_ENTER),
        [.line("12")]
    ),
    (
        "Control with a key, as some send line feed",
        Typing().press(KEY_1).key(KEY_LEFTCTRL, 1).press(KEY_J).key(KEY_LEFTCTRL, 0).press(KEY_2, KEY_ENTER),
        [.line("12")]
    ),
    (
        "two seconds and the rest", Typing().digits("97").wait(.milliseconds(1900)).digits("8").press(KEY_ENTER),
        [.line("978")]
    ),
    (
        "half a line and later a whole one",
        Typing().digits("97").wait(.milliseconds(2100)).digits(isbn).press(KEY_ENTER),
        [.lost(.noEnter(text: "97")), .line(isbn)]
    ),
    ("half a line and later Enter", Typing().digits("97").wait(.seconds(60)).press(KEY_ENTER), [.line("97")]),
    (
        "keys lost in a line",
        Typing().digits("978").dropped().digits("99").event(EV_SYN, SYN_REPORT, 0).digits("12")
            .press(KEY_ENTER).digits(isbn).press(KEY_ENTER), [.lost(.dropped), .line(isbn)]
    ),
    (
        "keys lost twice in a line",
        Typing().digits("978").dropped().press(KEY_1).dropped().press(KEY_1, KEY_ENTER)
            .digits(isbn).press(KEY_ENTER), [.lost(.dropped), .line(isbn)]
    ),
    (
        "the release of Shift lost",
        Typing().key(KEY_LEFTSHIFT, 1).dropped().event(EV_SYN, SYN_REPORT, 0).press(KEY_ENTER)
            .press(KEY_1, KEY_ENTER), [.lost(.dropped), .line("1")]
    ),
    (
        "Enter lost, and later a line",
        Typing().digits("978").dropped().event(EV_SYN, SYN_REPORT, 0).wait(.milliseconds(400))
            .digits(isbn).press(KEY_ENTER), [.lost(.dropped), .line(isbn)]
    ),
    (
        "128 characters", Typing().digits(String(repeating: "1", count: 128)).press(KEY_ENTER),
        [.line(String(repeating: "1", count: 128))]
    ),
    (
        "129 characters and more",
        Typing().digits(String(repeating: "1", count: 300)).press(KEY_ENTER).press(KEY_2, KEY_ENTER),
        [.lost(.tooLong), .line("2")]
    ),
    (
        "a mouse's movement between",
        Typing().press(KEY_1).event(EV_REL, REL_X, 5).event(EV_REL, KEY_5, 1).press(KEY_ENTER),
        [.line("1")]
    ),
]

@Suite struct `The keys of a handheld scanner` {
    @Test(arguments: typed) fileprivate func `become lines`(
        _ row: (name: String, typing: Typing, outputs: [KeyLine.Output])
    ) {
        #expect(row.typing.outputs() == row.outputs, "\(row.name)")
    }

    @Test(arguments: [1, 7, 23, 24, 25, 1000]) func `are parsed however they are split`(size: Int) {
        var records: [UInt8] = []
        for (code, value) in [(KEY_1, 1), (KEY_1, 0), (KEY_MINUS, 1), (KEY_ENTER, 1)] as [(Int32, Int32)] {
            var record = input_event()
            record.type = UInt16(EV_KEY)
            record.code = UInt16(code)
            record.value = value
            record.time = timeval(tv_sec: 7, tv_usec: 250_000)
            withUnsafeBytes(of: record) { records.append(contentsOf: $0) }
        }
        var parser = KeyEventParser()
        var line = KeyLine()
        var outputs: [KeyLine.Output] = []
        for start in stride(from: 0, to: records.count, by: size) {
            for event in parser.parse(records[start..<min(start + size, records.count)]) {
                #expect(event.time == .milliseconds(7250))
                if let output = line.consume(event) { outputs.append(output) }
            }
        }
        #expect(outputs == [.line("1-")])
    }
}

@Suite struct `The list of handheld scanners` {
    @Test func `shows devices that type digits and Enter, likely scanners first`() {
        let devices = ScannerDevice.listed(in: recordedListing)
        #expect(
            devices.map(\.path) == [
                "/dev/input/event12", "/dev/input/event21", "/dev/input/event3", "/dev/input/event4",
            ])
        #expect(devices.map(\.isLikely) == [true, true, false, false])
        #expect(
            devices.map(\.name) == [
                "WSM Keyboard \"Tera\" Barcode", "HID Device", "AT Translated Set 2 keyboard", "",
            ])
    }

    @Test(arguments: [
        "", "\n\n\n", "I: Bus=\nN: Name=\nH: Handlers=event\nB: KEY=", "H: Handlers=kbd event1\nB: KEY=zz",
    ])
    func `is empty if there are no devices`(listing: String) {
        #expect(ScannerDevice.listed(in: listing) == [])
    }
}

/// /proc/bus/input/devices of a laptop (64-bit words) with two scanners.
private let recordedListing = """
    I: Bus=0019 Vendor=0000 Product=0001 Version=0000
    N: Name="Power Button"
    P: Phys=PNP0C0C/button/input0
    S: Sysfs=/devices/LNXSYSTM:00/LNXSYBUS:00/PNP0C0C:00/input/input0
    U: Uniq=
    H: Handlers=kbd event0
    B: PROP=0
    B: EV=3
    B: KEY=8000 10000000000000 0

    I: Bus=0011 Vendor=0001 Product=0001 Version=ab41
    N: Name="AT Translated Set 2 keyboard"
    P: Phys=isa0060/serio0/input0
    S: Sysfs=/devices/platform/i8042/serio0/input/input3
    U: Uniq=
    H: Handlers=sysrq kbd leds event3
    B: PROP=0
    B: EV=120013
    B: KEY=402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe
    B: MSC=10
    B: LED=7

    I: Bus=0003 Vendor=1234 Product=0001 Version=0111
    N: Name=""
    H: Handlers=kbd event4
    B: KEY=1000000000007 ff9f207ac14057ff febeffdfffefffff fffffffffffffffe

    I: Bus=0003 Vendor=046d Product=c077 Version=0111
    N: Name="Logitech USB Optical Mouse"
    H: Handlers=mouse1 event7
    B: PROP=0
    B: EV=17
    B: KEY=70000 0 0 0 0
    B: REL=903

    I: Bus=0003 Vendor=05e0 Product=1200 Version=0110
    N: Name="HID Device"
    H: Handlers=sysrq kbd event21
    B: KEY=1000000000007 ff800000000007ff febeffdff3cfffff fffffffffffffffe

    I: Bus=0003 Vendor=34eb Product=1502 Version=0110
    N: Name="WSM Keyboard "Tera" Barcode"
    H: Handlers=sysrq kbd event12
    B: KEY=1000000000007 ff800000000007ff febeffdff3cfffff fffffffffffffffe


    """

@Test(arguments: ["/dev/null", "/etc/passwd", "/dev/../dev/null"])
func `nothing outside /dev/input is opened`(path: String) {
    #expect(throws: ScannerError.notAnInputDevice(path: path)) { _ = try InputDevice(path: path) }
}

import Bookplate

/// Checks properties that every result must have.
func check(_ symbols: [Symbol]) {
    for (index, symbol) in symbols.enumerated() {
        check(payload: symbol.payload)
        check(symbol.corners)
        if let addon = symbol.addon {
            require([2, 5].contains(addon.utf8.count) && addon.utf8.allSatisfy(isDigit), "add-on \(addon)")
        }
        require(symbol.quality > 0, "\(symbol.payload) by \(symbol.quality) lines")
        require(!symbols[..<index].contains { $0.payload == symbol.payload }, "\(symbol.payload) twice")
    }
}

/// Checks for thirteen digits with a correct check digit, counted from the left, unlike in the decoder.
func check(payload: String) {
    let digits = payload.utf8.map { Int($0) - 48 }
    require(digits.count == 13 && payload.utf8.allSatisfy(isDigit), "payload \(payload)")
    let sum = digits.enumerated().reduce(0) { $0 + $1.element * ($1.offset % 2 == 0 ? 1 : 3) }
    require(sum % 10 == 0, "check digit of \(payload)")
}

func check(_ corners: Corners) {
    require(corners.all.allSatisfy { $0.x.isFinite && $0.y.isFinite }, "corners \(corners)")
}

private func isDigit(_ character: UInt8) -> Bool { (48...57).contains(character) }

func require(_ condition: Bool, _ description: @autoclosure () -> String) {
    if !condition { fatalError("does not hold: \(description())") }
}

import Foundation

extension StringProtocol {
    /// The text without characters that could control a terminal. Control characters other than line breaks, and
    /// bidirectional overrides, become spaces.
    package var printable: String {
        if isPlainASCII { return String(self) }
        return String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0x0A: scalar
                    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: " "
                    default: scalar
                    }
                }))
    }
}

extension StringProtocol {
    /// True if the text has only printable ASCII characters, each of which takes one column.
    var isPlainASCII: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}

extension String {
    /// The text on one line, without control characters.
    package var oneLine: String {
        let printable = printable
        return printable.utf8.contains(0x0A) ? printable.replacingOccurrences(of: "\n", with: " ") : printable
    }

    /// Returns the text, broken at spaces into lines of at most `width` columns. Only the first `most` lines are kept.
    package func wrapped(_ width: Int, atMost most: Int = 4) -> [String] {
        var lines: [String] = []
        var line = ""
        // Two spaces between words are kept.
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, line.columns + 1 + String(word).columns > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines.prefix(most).map { $0.fitted(width) }
    }
}

/// Returns the number with its noun: "1 book", "2 books".
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Returns the names in quotation marks: `"Dune", "Emma"`.
package func quoted(_ names: [String]) -> String { names.map { "\"\($0.oneLine)\"" }.joined(separator: ", ") }

/// Formats minutes as "3 h 20 min".
package func spoken(minutes: Int) -> String {
    let (hours, rest) = (minutes / 60, minutes % 60)
    if hours == 0 { return "\(rest) min" }
    return rest == 0 ? "\(hours) h" : "\(hours) h \(rest) min"
}

/// Formats a number with one digit after the decimal point, or without a decimal point if it is whole.
func rounded(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    guard abs(tenths) < 1e15 else { return "\(value)" }
    let whole = Int(tenths)
    return whole % 10 == 0 ? String(whole / 10) : "\(whole / 10).\(abs(whole % 10))"
}

/// Formats a number below 100 with two digits.
package func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }

extension Date {
    /// Formats the time of day as `14:30`.
    package func clockTime(in zone: TimeZone) -> String {
        let seconds = Int(timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: self)
        let minutes = ((seconds % 86_400) + 86_400) % 86_400 / 60
        return twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
    }
}

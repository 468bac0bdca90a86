import Glibc
import SystemCalls
import SystemPackage

extension FilePath {
    /// Returns the paths of the files that arguments name.
    ///
    /// The name of a file is bytes, which need not be UTF-8, but an argument is text, in which U+FFFD replaces all
    /// other bytes. The path has the bytes of the word on the command line that reads as the argument. If several words
    /// read the same, the first belongs to the first such argument, and so on.
    ///
    /// - Parameter arguments: names of files, in the order of the command line.
    static func paths(of arguments: [String]) -> [FilePath] {
        var words = repairedWords()
        return arguments.map { argument in
            words[Array(argument.utf8)]?.popLast().map { FilePath(bytes: $0) } ?? FilePath(argument)
        }
    }

    /// Creates the path of the file that an argument names. See ``paths(of:)``.
    init(argument: String) { self = Self.paths(of: [argument])[0] }

    /// Returns the words of the command line that contain U+FFFD when they are read as text, and such values in words
    /// like `--image=cover.jpg`.
    ///
    /// - Returns: for each text, the bytes of its words, the last word first. The texts are in UTF-8, because two
    ///   strings are also equal if the same letters are composed differently, and then they name different files.
    private static func repairedWords() -> [[UInt8]: [[UInt8]]] {
        var words: [[UInt8]: [[UInt8]]] = [:]
        let given = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        for word in given.dropFirst().reversed() {
            guard let word else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
            var readings = [bytes[...]]
            if bytes.starts(with: "--".utf8), let equals = bytes.firstIndex(of: UInt8(ascii: "=")) {
                readings.append(bytes[(equals + 1)...])
            }
            for bytes in readings {
                let text = String(decoding: bytes, as: UTF8.self)
                if text.unicodeScalars.contains("\u{FFFD}") {
                    words[Array(text.utf8), default: []].append(Array(bytes))
                }
            }
        }
        return words
    }
}

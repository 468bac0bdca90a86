/// An event of a handheld scanner.
public enum ScannerEvent: Sendable, Equatable {
    /// A scanned line, without its Enter.
    case line(String)
    /// The scanner cannot be used now, or a line was lost. The scanner is tried again automatically. The message says
    /// what happened, where, and what to do, and is sent once.
    case trouble(String)
    /// The scanner is ready, or ready again.
    case ready(name: String)
}

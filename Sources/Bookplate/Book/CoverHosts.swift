/// The hosts that covers may come from; redirects stay within them.
public enum CoverHosts {
    public static let allowed = ["openlibrary.org", "archive.org", "books.google.com", "googleusercontent.com"]

    /// Whether `host` is one of them or a name below one of them.
    public static func allows(_ host: String) -> Bool {
        let host = host.lowercased()
        return allowed.contains { host == $0 || host.hasSuffix("." + $0) }
    }
}

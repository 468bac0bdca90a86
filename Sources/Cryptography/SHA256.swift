import CSHA2

/// The hash function SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// Returns the 32 bytes of the hash.
    public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var (context, hash) = (SHA2_CTX(), [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH)))
        SHA256Init(&context)
        SHA256Update(&context, bytes, bytes.count)
        SHA256Final(&hash, &context)
        return hash
    }
}

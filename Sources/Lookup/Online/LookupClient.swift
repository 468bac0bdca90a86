import HTTP

extension HTTPClient {
    /// As who the configuration says, trusting whom it says.
    convenience init(_ configuration: LookupConfiguration) {
        self.init(userAgent: configuration.userAgent, certificateFile: configuration.certificateFile)
    }
}

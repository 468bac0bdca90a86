import Hummingbird

extension Route {
    /// What can be said of a body before it is read.
    ///
    /// - Throws: ``RequestRefusal``: 415 when it is of another type, 413 when it says itself that it is too large.
    func checkBody(of request: Request) throws(RequestRefusal) {
        if request.changesNothing { return }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        // Without a body there is no type to be wrong; where one is wanted, taking it says so.
        if (length ?? 0) == 0, request.headers[.transferEncoding] == nil { return }
        let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased() ?? ""
        let limit: Int
        switch body {
        case .json:
            guard type == "application/json" else {
                throw RequestRefusal(
                    status: .unsupportedMediaType, code: "notJSON", message: "Bodies are application/json.")
            }
            limit = Request.mostJSON
        case .photo:
            guard type.hasPrefix("image/") || type == "application/octet-stream" else {
                throw RequestRefusal(
                    status: .unsupportedMediaType, code: "notPhoto", message: "A photo is image/… as a body.")
            }
            limit = Request.mostPhoto
        }
        if let length, length > limit { throw .tooLarge }
    }
}

extension RequestRefusal {
    static let tooLarge = RequestRefusal(
        status: .contentTooLarge, code: "tooLarge",
        message: "That is too large: JSON has 64 kB at most, a photo 32 MiB, a cover 5 MiB. Send less.")

    /// Nobody known asks for what is not everyone's.
    static let signInNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Sign in with the access code first.")

    /// Nobody with a station's token asks for what is a station's.
    static let tokenNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Only a paired station may ask for that, with its token.",
        headers: [.wwwAuthenticate: "Bearer"])
}

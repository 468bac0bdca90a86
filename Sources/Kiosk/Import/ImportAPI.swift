import Bookplate
import Hummingbird

/// Receives a file from a browser, finds out what its import would do, and imports it.
struct ImportAPI: Sendable {
    let parts: KioskParts

    /// The maximum size of a file, in bytes. An export of 100,000 books without long reviews is about half as large.
    static let maxBytes = 128 << 20
    /// The maximum length of a file's name, in characters.
    private static let nameLimit = 120

    var routes: [Route] {
        [
            Route(.get, "/api/imports", for: .household, show),
            Route(.post, "/api/imports", for: .household, body: .file, receive),
            Route(.put, "/api/imports/:id/choices", for: .household, choose),
            Route(.post, "/api/imports/:id/start", for: .household, start),
            Route(.delete, "/api/imports/:id", for: .household, discard),
        ]
    }

    private func show(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let texts = parts.pages.texts(context)
        return JSONResponse(["import": await parts.imports.job.map { $0.json(texts) } ?? .null])
    }

    /// Writes the body to a file, piece by piece, and begins the dry run.
    private func receive(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let name = Self.name(try request.queryValue("name") ?? "")
        let body = request.body
        let (file, size) = try await parts.imports.receive { file in
            var size = 0
            for try await part in body {
                size += part.readableBytes
                guard size <= Self.maxBytes else { throw RequestRefusal.tooLarge }
                try file.append([UInt8](buffer: part))
            }
            return size
        }
        let job = try await parts.imports.take(file, size: size, name: name, for: context.reader?.id, context.library)
        return JSONResponse(job.json(parts.pages.texts(context)), status: .accepted)
    }

    /// Returns the last part of a file's name on one line.
    private static func name(_ text: String) -> String {
        let name = (text.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? "").cleanedLine
        return name.isEmpty ? "file" : String(name.prefix(nameLimit))
    }

    private func choose(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.object()
        try body.checkMembers(["reader", "format", "shelf", "tags", "owned"])
        let format = try body.choice("format", ExchangeFormat.self).value
        let shelf = try body.text("shelf").value
        let preset = try ImportPreset(
            enteredShelf: shelf?.isEmpty == true ? nil : shelf, tags: body.texts("tags").value ?? [],
            isOwned: body.bool("owned").value ?? false)
        var (reader, library) = (context.reader?.id, context.library)
        if let id = try body.text("reader").value.map(ID<Reader>.init(rawValue:)), id != reader {
            library = try await library.reading(as: id, holder: context.holder, isGuest: false, at: parts.ports.now())
            reader = id
        }
        let job = try await parts.imports.check(
            context.id(of: ImportDesk.Job.self), as: format == .json ? nil : format, preset, for: reader, library)
        return JSONResponse(job.json(parts.pages.texts(context)))
    }

    private func start(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let job = try await parts.imports.start(context.id(of: ImportDesk.Job.self))
        return JSONResponse(job.json(parts.pages.texts(context)))
    }

    private func discard(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await parts.imports.discard(context.id(of: ImportDesk.Job.self))
        return JSONResponse([:])
    }
}

extension RequestRefusal {
    static let importBusy = RequestRefusal(
        .importBusy, "Another file is being imported. Wait until that is done, then try again.")
}

extension ImportDesk.Job {
    func json(_ texts: Texts) -> JSONValue {
        guard case .object(let counts) = summary.json(isDryRun: !hasBegun) else { return .null }
        return [
            "id": .string(id.rawValue), "name": .string(order.name), "phase": .string(phase.rawValue),
            "format": JSONValue(format?.rawValue), "read": .integer(bytesRead), "size": .integer(size),
            "counts": .object(counts.filter { $0.key != "event" }),
            "problems": .array(
                problems.map { result in
                    guard case .object(let members) = result.json else { return .null }
                    // The copy of a dry run is not in the library.
                    return .object(
                        members.filter { $0.key != "event" }.map { key, value in
                            (key: key, value: key == "copyId" && !hasBegun ? .null : value)
                        })
                }), "problemCount": .integer(problemCount), "reader": JSONValue(reader?.rawValue),
            "shelf": JSONValue(order.preset.shelf), "tags": JSONValue(order.preset.tags),
            "owned": .bool(order.preset.isOwned), "change": JSONValue(change?.rawValue),
            "error": JSONValue(failure.map(texts.reason(of:))),
        ]
    }
}

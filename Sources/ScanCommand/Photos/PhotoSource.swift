import Bookplate
import Capture
import Foundation
import Station
import Terminal

extension InputSource {
    /// Reads photos from files, from folders, or from standard input (`-`).
    ///
    /// - Parameter print: the options for reading printed ISBNs.
    init(photos: [String], print: PrintOptions, report: ExitReport) {
        let (inputs, problems) = PhotoInput.expand(photos)
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.printError("there is no photo in \(photos.joined(separator: ", ").printable).")
        }
        let results = PhotoBatchReader(withThumbnails: true, print: print.reader()).read(inputs)
        let bar = ProgressBar("photos", total: inputs.count)
        let batches = AsyncStream<InputBatch> { continuation in
            let unreadable = problems.map {
                CaptureEvent(refused: .unreadable, origin: .photo, image: $0.photo, reason: "\($0)")
            }
            continuation.yield(InputBatch(refused: unreadable))
            let reading = Task {
                for await result in results {
                    bar.advance()
                    // Because of this error, printed numbers may have been missed.
                    if result.printError != nil { report.record(.unavailable) }
                    continuation.yield(InputBatch(result))
                }
                bar.finish()
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
        self.init(batches: batches)
    }
}

extension InputBatch {
    /// Collects the books in a photo as detections, and its other codes as refused inputs.
    init(_ photo: PhotoResult) {
        self.init()
        func refuse(_ name: CaptureEvent.Name, _ reason: String) {
            refused.append(CaptureEvent(refused: name, origin: .photo, image: photo.name, reason: reason))
        }
        if photo.isUnreadable {
            refuse(.unreadable, photo.error ?? "it cannot be read")
            return
        }
        if photo.symbols.isEmpty, photo.printed.isEmpty {
            let nothing = photo.isPrintRead ? "no bar code and no printed ISBN found" : "no bar code found"
            let title = photo.printedTitle.map { title in
                "the largest print is \"\(title.oneLine.fitted(60))\"; to find the book by its title, run 'scan find --image \(photo.name.oneLine)'"
            }
            let reasons = [photo.error ?? nothing, photo.printError?.description, title].compactMap { $0 }
            refuse(.refused, reasons.joined(separator: "; "))
            return
        }
        for (index, symbol) in photo.symbols.enumerated() {
            do throws(ISBNRefusal) {
                let thumbnail = photo.thumbnails.indices.contains(index) ? photo.thumbnails[index] : nil
                detections.append(
                    Detection(
                        isbn: try symbol.isbn(), raw: symbol.payload, addon: symbol.addon, origin: .photo,
                        image: photo.name, thumbnail: thumbnail))
            } catch {
                refused.append(CaptureEvent(refused: symbol, error, origin: .photo, image: photo.name))
            }
        }
        // A number read from print is stored as typed, but with its photo. This combination marks it as read from
        // print, also for the person who confirms it later.
        detections += photo.printed.map { number in
            Detection(
                isbn: number.isbn, raw: number.text, origin: .typed, image: photo.name,
                thumbnail: photo.printedThumbnail)
        }
        if let error = photo.printError { refuse(.refused, error.description) }
    }
}

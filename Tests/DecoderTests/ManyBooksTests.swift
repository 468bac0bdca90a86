import Bookplate
import CodeMaker
import Decoder
import TestTools
import Testing

/// Photos with many codes of at least two pixels per module, among other things.
@Suite(.serialized) struct `A photo of many books` {
    @Test(arguments: 1...2)
    func `reads twelve back covers on a table, in reading order, none twice`(_ seed: UInt64) throws {
        try expectAll(BookScene.table(seed: seed))
    }

    @Test(arguments: 1...2)
    func `reads fifteen codes of a tenth of the photo's size`(_ seed: UInt64) throws {
        try expectAll(BookScene.closeUp(seed: seed))
    }

    @Test(arguments: 1...2)
    func `reads the stickers of a shelf of spines, from left to right`(_ seed: UInt64) throws {
        try expectAll(BookScene.shelf(seed: seed))
    }

    @Test(arguments: 1...2)
    func `reads the stickers of a stack, from top to bottom`(_ seed: UInt64) throws {
        try expectAll(BookScene.stack(seed: seed))
    }

    @Test(.enabled(if: isLong, "takes minutes: BOOKPLATE_LONG_TESTS=1"))
    func `reads all of eighty tables, shelves and stacks`() throws {
        for seed in 100..<120 as Range<UInt64> {
            try expectAll(BookScene.table(seed: seed), "table \(seed)")
            try expectAll(BookScene.closeUp(seed: seed), "close-up \(seed)")
            try expectAll(BookScene.shelf(seed: seed), "shelf \(seed)")
            try expectAll(BookScene.stack(seed: seed), "stack \(seed)")
        }
    }

    private func expectAll(_ scene: BookScene, _ name: Comment? = nil) throws {
        var decoder = try PhotoReader()
        for isAlwaysWhole in [true, false] {
            let photo = ScenePicture(frame: scene.frame, isAlwaysWhole: isAlwaysWhole)
            #expect(try decoder.decode(photo).map(\.payload) == scene.payloads, name)
        }
    }
}

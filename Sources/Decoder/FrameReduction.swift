import Bookplate

extension Frame {
    /// Fills `result` with the means of `factor` by `factor` pixels each; what is left over at the right and below is left out.
    ///
    /// - Precondition: `factor` is positive and no larger than either side.
    func reduce(by factor: Int, into result: inout Frame) {
        let (newWidth, newHeight, stride) = (width / factor, height / factor, bytesPerLine)
        result.resize(width: newWidth, height: newHeight)
        withLuma { source in
            result.withMutableLuma { target in
                guard let base = source.baseAddress, let target = target.baseAddress else { return }
                for y in 0..<newHeight {
                    let (rows, line) = (base + y * factor * stride, target + y * newWidth)
                    if factor == 2 {
                        // By far the most frequent, and in a form that becomes vector instructions.
                        let below = rows + stride
                        for x in 0..<newWidth {
                            let sum =
                                UInt16(rows[2 * x]) &+ UInt16(rows[2 * x + 1]) &+ UInt16(below[2 * x])
                                &+ UInt16(below[2 * x + 1])
                            line[x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
                        }
                    } else {
                        for x in 0..<newWidth {
                            var sum = 0
                            for row in 0..<factor {
                                for column in 0..<factor { sum &+= Int(rows[row * stride + x * factor + column]) }
                            }
                            line[x] = UInt8(truncatingIfNeeded: sum / (factor * factor))
                        }
                    }
                }
            }
        }
    }
}

/// Linear equations of a symmetric positive matrix, of which the lower half is given.
enum Cholesky {
    /// Replaces `side` by the solution, and `matrix` by its factor.
    ///
    /// - Parameters:
    ///   - matrix: `count` rows of `count` numbers.
    ///   - side: `count` numbers.
    /// - Returns: whether the matrix is one.
    static func solve(_ matrix: UnsafeMutablePointer<Double>, _ side: UnsafeMutablePointer<Double>, count: Int) -> Bool
    {
        for i in 0..<count {
            for j in 0...i {
                var sum = matrix[i * count + j]
                for k in 0..<j { sum -= matrix[i * count + k] * matrix[j * count + k] }
                if i == j {
                    guard sum > 1e-12 else { return false }
                    matrix[i * count + i] = sum.squareRoot()
                } else {
                    matrix[i * count + j] = sum / matrix[j * count + j]
                }
            }
        }
        for i in 0..<count {
            for k in 0..<i { side[i] -= matrix[i * count + k] * side[k] }
            side[i] /= matrix[i * count + i]
        }
        for i in stride(from: count - 1, through: 0, by: -1) {
            for k in (i + 1)..<max(i + 1, count) { side[i] -= matrix[k * count + i] * side[k] }
            side[i] /= matrix[i * count + i]
        }
        return true
    }
}

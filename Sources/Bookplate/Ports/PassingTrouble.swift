/// An error that may be over when the same is tried again: a lock that another process holds, a disk that is full now.
public protocol PassingTrouble: Error {
    /// Whether waiting may help.
    var mayPass: Bool { get }
}

/// Whether the same may work when it is tried again.
public func mayPass(_ error: any Error) -> Bool { (error as? any PassingTrouble)?.mayPass ?? false }

extension Duration {
    /// Time since the machine was started, without its sleep: CLOCK_MONOTONIC, the clock of V4L2's time stamps
    /// (V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC). Setting the calendar's clock does not change it.
    public static var monotonicNow: Duration {
        let clock = SuspendingClock()
        return clock.systemEpoch.duration(to: clock.now)
    }
}

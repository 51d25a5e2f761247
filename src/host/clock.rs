//! The two clocks: civil time, which people set, and time since the start of the machine, which nobody sets.

use std::time::{Duration, UNIX_EPOCH};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The clock that only ever goes forward, and goes on while the machine sleeps.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SINCE_START: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SINCE_START: ClockId = ClockId::Monotonic;

/// One moment on both clocks, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Now {
    /// Since 1970, UTC.
    pub unix_ms: u64,
    /// Since the machine was started.
    pub boot_ms: u64,
}

impl Now {
    /// How long ago `then` was. A clock set back, or a machine started anew, never makes it longer than it was: where
    /// neither clock can tell, it is 0.
    pub fn age_ms(self, then: Now) -> u64 {
        let by = |now: u64, then: u64| now.checked_sub(then);
        by(self.boot_ms, then.boot_ms).or_else(|| by(self.unix_ms, then.unix_ms)).unwrap_or(0)
    }

    /// RFC 3339, UTC, with milliseconds.
    pub fn rfc3339(self) -> String {
        rfc3339(self.unix_ms)
    }
}

/// Milliseconds since 1970 as RFC 3339, UTC.
pub fn rfc3339(unix_ms: u64) -> String {
    /// The last millisecond of the year 9999, beyond which the format does not go.
    const LAST: u64 = 253_402_300_799_999;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(unix_ms.min(LAST))).to_string()
}

/// The time on both clocks.
pub fn now() -> Now {
    Now { unix_ms: millis(clock_gettime(ClockId::Realtime)), boot_ms: millis(clock_gettime(SINCE_START)) }
}

fn millis(time: Timespec) -> u64 {
    let whole = u64::try_from(time.tv_sec).unwrap_or(0).saturating_mul(1000);
    whole.saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_ms: u64, boot_ms: u64) -> Now {
        Now { unix_ms, boot_ms }
    }

    #[test]
    fn age_follows_the_clock_that_nobody_sets() {
        assert_eq!(at(50_000, 9_000).age_ms(at(10_000, 4_000)), 5_000, "civil time leapt ahead");
        assert_eq!(at(10_000, 9_000).age_ms(at(50_000, 4_000)), 5_000, "civil time was set back");
    }

    #[test]
    fn age_after_a_new_start_follows_civil_time() {
        assert_eq!(at(50_000, 100).age_ms(at(10_000, 4_000)), 40_000);
    }

    #[test]
    fn age_is_nothing_where_neither_clock_can_tell() {
        assert_eq!(at(9_000, 100).age_ms(at(10_000, 4_000)), 0);
    }

    #[test]
    fn times_are_written_in_utc_with_milliseconds() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_763_699_999_042), "2025-11-21T04:39:59.042Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn now_is_on_both_clocks() {
        let first = now();
        assert!(first.unix_ms > 1_700_000_000_000 && first.boot_ms > 0);
        assert!(now().boot_ms >= first.boot_ms);
    }
}

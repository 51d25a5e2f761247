//! When to kill processes that work: at every moment of what they do, however slow the machine is.

use std::process::Child;
use std::time::Duration;

/// Before that they do nothing anywhere.
const SHORTEST: Duration = Duration::from_millis(2);

/// From round to round a moment at which to kill them, random enough to hit every one: splitmix over the round.
pub struct Moments {
    round: u64,
    least: Duration,
    span: Duration,
}

impl Moments {
    /// Moments in a span that is no shorter than this.
    pub fn over(least: Duration) -> Moments {
        Moments { round: 0, least, span: least }
    }

    pub fn next(&mut self) -> Duration {
        self.round += 1;
        let mixed = self.round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        SHORTEST + Duration::from_micros((mixed >> 32) % u64::try_from(self.span.as_micros()).unwrap())
    }

    /// Whether the processes of the last round came to a result. Where they are too slow, they are given more, so that about two rounds of
    /// three do.
    pub fn learn(&mut self, result: bool) {
        self.span = self.least.max(self.span.mul_f64(if result { 0.9 } else { 1.25 }));
    }
}

/// Ends them at once; none of them may have complained.
pub fn kill(mut children: Vec<Child>) {
    for child in &mut children {
        child.kill().unwrap();
    }
    for child in children {
        let out = child.wait_with_output().unwrap();
        assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    }
}

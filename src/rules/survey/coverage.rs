//! How much of a call was understood before it runs.

use super::{Invocation, Survey};
use crate::domain::Score;

impl Survey {
    /// The share of its commands' words that is known before they run. None of it where a bound was passed.
    pub fn coverage(&self) -> Score {
        if self.bound {
            return Score::ZERO;
        }
        let all: usize = self.invocations.iter().map(|inv| inv.args.len() + 1).sum();
        let known: usize = self.invocations.iter().map(known).sum();
        // Of a text that could not be read to its end what stands behind is not counted: at most half of it is known.
        let read = if self.problem.is_some() { 0.5 } else { 1.0 };
        if all == 0 {
            Score::new(if self.problem.is_some() { 0.0 } else { 1.0 })
        } else {
            Score::new(read * ratio(known, all))
        }
    }
}

/// The words of a command that are known; none when its program is not.
fn known(inv: &Invocation) -> usize {
    if inv.program.is_empty() { 0 } else { 1 + inv.args.iter().filter(|arg| !arg.has_unknown()).count() }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let small = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    small(part) / small(whole)
}

#[cfg(test)]
mod tests {
    use crate::domain::Policy;
    use crate::rules::fixture;

    #[test]
    fn what_is_not_known_is_said() {
        for (command, share) in [
            ("ls -la src", 1.0),
            ("X=1", 1.0),
            ("$TOOL -x", 0.0),
            ("cat $FILE", 0.5),
            ("ls; $TOOL", 0.5),
            ("ls; echo 'a", 0.5),
        ] {
            let (survey, _) = fixture::survey_of(&fixture::call(command), &Policy::default());
            assert!((survey.coverage().get() - share).abs() < 0.01, "{command}: {:?}", survey.coverage());
        }
        let deep = format!("{}ls{}", "(".repeat(100), ")".repeat(100));
        let (survey, _) = fixture::survey_of(&fixture::call(&deep), &Policy::default());
        assert!(survey.coverage().get() < 0.01);
    }
}

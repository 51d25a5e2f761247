//! What a run may use: the options of the command line and, for memory and tokens, the limits of the configuration where an option is
//! left out.

use std::time::Duration;

use super::args::RunArgs;
use super::stop::{Stop, mebibytes};
use super::watch::Figures;
use crate::domain::{ResourceMode, ResourcePolicy};
use crate::review::limits;

/// One limit.
#[derive(Debug, Clone, Copy)]
struct Budget<T> {
    most: T,
    /// The run is ended beyond it; otherwise it is only told of.
    ends: bool,
    /// The highest share that was told of, in percent.
    told: u8,
}

impl<T> Budget<T> {
    fn option(most: Option<T>) -> Option<Budget<T>> {
        most.map(|most| Budget { most, ends: true, told: 0 })
    }

    fn setting(most: T, mode: ResourceMode) -> Option<Budget<T>> {
        match mode {
            ResourceMode::Off => None,
            ResourceMode::Warn => Some(Budget { most, ends: false, told: 0 }),
            ResourceMode::Block => Some(Budget { most, ends: true, told: 0 }),
        }
    }

    /// What is to be told once, when a share of it is reached.
    fn tell(&mut self, share: u8, used: &str) -> Option<String> {
        (share > self.told).then(|| {
            self.told = share;
            format!(
                "{share} % of what this run may use is used: {used}; do what matters most first, and say what is left"
            )
        })
    }
}

/// Beyond the limit it is all of it.
fn share(used: u64, most: u64) -> u8 {
    if used > most { 100 } else { limits::share(used, most) }
}

/// All limits of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budgets {
    time: Option<Budget<Duration>>,
    memory: Option<Budget<u64>>,
    tokens: Option<Budget<u64>>,
    cost: Option<Budget<f64>>,
    calls: Option<Budget<u64>>,
}

impl Budgets {
    pub fn of(args: &RunArgs, limits: &ResourcePolicy) -> Budgets {
        let memory = || Budget::setting(limits.max_memory.saturating_mul(1 << 20), limits.memory);
        let tokens = || Budget::setting(limits.max_token_usage, limits.token_usage);
        Budgets {
            time: Budget::option(args.timeout),
            memory: Budget::option(args.max_memory).or_else(memory),
            tokens: Budget::option(args.max_tokens).or_else(tokens),
            cost: Budget::option(args.max_cost),
            calls: Budget::option(args.max_calls),
        }
    }

    /// The limit that is passed, of those that a look at the run shows. The time is the child's to keep.
    pub fn passed(&self, figures: &Figures) -> Option<Stop> {
        fn over<T: PartialOrd + Copy>(budget: Option<Budget<T>>, used: T) -> Option<T> {
            budget.filter(|budget| budget.ends && used > budget.most).map(|budget| budget.most)
        }
        let Figures { calls, tokens, cost, memory } = *figures;
        let held = memory.unwrap_or_default();
        let memory = over(self.memory, held).map(|most| Stop::Memory(held, most));
        memory
            .or_else(|| over(self.tokens, tokens).map(|most| Stop::Tokens(tokens, most)))
            .or_else(|| over(self.cost, cost).map(|most| Stop::Cost(cost, most)))
            .or_else(|| over(self.calls, calls).map(|most| Stop::Calls(calls, most)))
    }

    /// What is to be told now of limits that are used up in part.
    pub fn told(&mut self, figures: &Figures, since: Duration) -> Vec<String> {
        /// Parts of a dollar that are counted in whole numbers.
        const PARTS: f64 = 10_000.0;
        let Figures { calls, tokens, cost, memory } = *figures;
        let mut told = Vec::new();
        if let Some(time) = &mut self.time {
            let used = format!("{} s of {} s", since.as_secs(), time.most.as_secs());
            let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            told.extend(time.tell(share(millis(since), millis(time.most)), &used));
        }
        if let (Some(budget), Some(held)) = (&mut self.memory, memory) {
            let used = format!("{} of {}", mebibytes(held), mebibytes(budget.most));
            told.extend(budget.tell(share(held, budget.most), &used));
        }
        if let Some(budget) = &mut self.tokens {
            told.extend(
                budget.tell(share(tokens, budget.most), &format!("{tokens} of {} tokens", budget.most)),
            );
        }
        if let Some(budget) = &mut self.cost {
            let parts = |dollars: f64| (dollars * PARTS) as u64;
            let used = format!("{cost:.2} of {:.2} dollars", budget.most);
            told.extend(budget.tell(share(parts(cost), parts(budget.most)), &used));
        }
        if let Some(budget) = &mut self.calls {
            told.extend(budget.tell(share(calls, budget.most), &format!("{calls} of {} calls", budget.most)));
        }
        told
    }
}

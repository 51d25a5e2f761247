//! The closed sets of words that keys take, from the loosest to the strictest.

use super::field::Choice;
use crate::domain::{BuiltinRules, LogLevel, Mode, OnFault, Profile, ResourceMode, Sensitivity, Span, Tier};

pub const ON_FAULT: Choice<OnFault> =
    Choice { words: &["ask", "block"], values: &[OnFault::Ask, OnFault::Block] };
pub const PROFILE: Choice<Profile> =
    Choice { words: &["development", "default", "testing", "production"], values: &Profile::ALL };
pub const MODE: Choice<Mode> =
    Choice { words: &["async", "blocking"], values: &[Mode::Async, Mode::Blocking] };
pub const BUILTIN: Choice<BuiltinRules> = Choice {
    words: &["none", "essential", "all"],
    values: &[BuiltinRules::None, BuiltinRules::Essential, BuiltinRules::All],
};
pub const LAYERS: Choice<Tier> =
    Choice { words: &["project", "user", "managed"], values: &[Tier::Project, Tier::User, Tier::Managed] };
pub const LOG_LEVEL: Choice<LogLevel> = Choice {
    words: &["error", "warn", "info", "debug"],
    values: &[LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug],
};
pub const RESOURCES: Choice<ResourceMode> = Choice {
    words: &["off", "warn", "block"],
    values: &[ResourceMode::Off, ResourceMode::Warn, ResourceMode::Block],
};
pub const SPAN: Choice<Span> =
    Choice { words: &["prompt", "session"], values: &[Span::Prompt, Span::Session] };
pub const SENSITIVITY: Choice<Sensitivity> = Choice {
    words: &["low", "medium", "high"],
    values: &[Sensitivity::Low, Sensitivity::Medium, Sensitivity::High],
};

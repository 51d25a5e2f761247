//! The closed sets of words that keys take, from the loosest to the strictest; most are declared in that order.

use super::field::Choice;
use crate::domain::{
    BuiltinRules, FleetFault, FleetService, LogLevel, Mode, OnFault, Profile, ResourceMode, Sensitivity,
    Span, Tier,
};

pub const ON_FAULT: Choice<OnFault> = Choice { words: &OnFault::NAMES, values: &OnFault::ALL };
pub const PROFILE: Choice<Profile> = Choice { words: &Profile::NAMES, values: &Profile::ALL };
pub const MODE: Choice<Mode> = Choice { words: &Mode::NAMES, values: &Mode::ALL };
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
pub const RESOURCES: Choice<ResourceMode> =
    Choice { words: &ResourceMode::NAMES, values: &ResourceMode::ALL };
pub const SPAN: Choice<Span> = Choice { words: &Span::NAMES, values: &Span::ALL };
pub const SENSITIVITY: Choice<Sensitivity> = Choice { words: &Sensitivity::NAMES, values: &Sensitivity::ALL };
pub const FLEET: Choice<FleetService> = Choice { words: &FleetService::NAMES, values: &FleetService::ALL };
pub const FLEET_FAULT: Choice<FleetFault> = Choice { words: &FleetFault::NAMES, values: &FleetFault::ALL };

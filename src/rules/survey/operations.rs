//! What a program does by its row.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::operands::{behind_pattern, is_remote, searches_here};
use super::options::Parsed;
use crate::domain::{EffectKind, Severity, Target};
use crate::rules::facts::{Operands, Operation, Role};

impl Surveyor<'_> {
    /// Notes what a program does by its row: the operation, what its options' values are, what its operands are.
    pub(super) fn operations(&mut self, call: &Call, parsed: &Parsed) {
        self.operation(call, parsed, parsed.operation());
        self.values(call, parsed);
        self.operands(call, parsed);
    }

    /// Notes what is done to the values of options.
    pub(super) fn values(&mut self, call: &Call, parsed: &Parsed) {
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            let Some(value) = &flag.value else { continue };
            match role {
                Role::Read => self.file(call, Act::Read, value, false),
                Role::Write | Role::Dest => self.file(call, Act::Create, value, false),
                Role::Delete => self.file(call, Act::Delete, value, false),
                Role::Url => self.url(call, value),
                Role::Plain | Role::Dir | Role::Shell | Role::Setting | Role::Code => {}
            }
        }
    }

    pub(super) fn operation(&mut self, call: &Call, parsed: &Parsed, operation: Operation) {
        let name = || {
            let mut name = parsed.program.name.to_owned();
            for word in &parsed.sub {
                name.push(' ');
                name.push_str(word);
            }
            Target::Command(name)
        };
        match operation {
            Operation::Nothing => {}
            Operation::Look if !parsed.operands.is_empty() && parsed.role() == Operands::Read => {}
            Operation::Look if parsed.role() == Operands::Pattern && !behind_pattern(parsed).is_empty() => {}
            Operation::Look if searches_here(call, parsed) => {}
            Operation::Look => {
                let target = match &call.cwd {
                    Some(path) => Target::Path { path: path.clone(), glob: false, recursive: false },
                    None => Target::begun("", false),
                };
                self.effect(call, EffectKind::FileRead, target, Severity::Low);
            }
            Operation::Change => self.effect(call, EffectKind::FileModification, name(), Severity::Medium),
            Operation::Discard => self.effect(call, EffectKind::FileDeletion, name(), Severity::High),
            Operation::Process => self.effect(call, EffectKind::ProcessCreation, name(), Severity::Medium),
            Operation::Network if parsed.role() == Operands::Urls && !parsed.operands.is_empty() => {}
            Operation::Network
                if parsed.role() == Operands::Remote && !parsed.operands.iter().any(is_remote) => {}
            Operation::Network
            | Operation::Reads
            | Operation::Destroys
            | Operation::Stops
            | Operation::Opens
            | Operation::Reveals => self.effect(call, EffectKind::NetworkRequest, name(), Severity::Medium),
            Operation::Install => {
                self.effect(call, EffectKind::ProcessCreation, name(), Severity::Medium);
                self.effect(call, EffectKind::NetworkRequest, name(), Severity::Low);
            }
            Operation::System if parsed.role() == Operands::Device && super::operands::only_looks(parsed) => {
            }
            Operation::System => self.effect(call, EffectKind::SystemModification, name(), Severity::High),
            Operation::Unknown => self.effect(call, EffectKind::SystemCommand, name(), Severity::Medium),
        }
    }
}

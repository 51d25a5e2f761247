//! The positional parameters of a script or function.

use super::Surveyor;
use super::output;
use super::scope::Scope;
use crate::shell::Arg;

/// Most positional parameters that are known by their numbers.
const MAX_NUMBERED: usize = 64;

/// `$0` stays what it is.
fn is_positional(name: &str) -> bool {
    name != "0" && name.bytes().all(|byte| byte.is_ascii_digit())
}

impl Surveyor<'_> {
    /// `$1`, `$2`, …, `$@` and `$*` of a script or function.
    pub(super) fn set_positional(&mut self, scope: &mut Scope, args: Vec<Arg>) {
        scope.env.vars.retain(|(name, _)| !is_positional(name));
        for (at, arg) in args.iter().enumerate().take(MAX_NUMBERED) {
            let (value, marked) = output::freeze(arg);
            self.tainted |= marked;
            scope.load(&value);
            scope.env.vars.push(((at + 1).to_string(), Some(value)));
        }
        scope.args = args;
    }
}

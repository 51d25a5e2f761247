//! The command language of POSIX sh and bash: text to a flat list of simple commands, and what a word is known to be.
//! Knows the language, not the programs: what `sudo` or `rm` mean is `rules`' affair.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

mod expand;
mod parse;
mod syntax;

pub use expand::{Arg, Env, Piece, expand, expand_defaults, expand_value, expand_value_defaults};
pub(crate) use expand::{BASH_COMMAND, is_pattern, number};
pub(crate) use parse::fragment;
pub use parse::parse;
pub use syntax::{Assign, Bound, Context, Op, Part, Problem, Redirect, RedirectKind, Script, Simple, Word};

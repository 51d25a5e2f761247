//! Why a command failed: what broke, and what was being done. It takes no trace of the stack, which would bring a reader of debug
//! information with it: a tenth of a megabyte, to show functions that a stripped binary does not name.

use std::error::Error;
use std::fmt::{Display, Formatter};

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error, and what was being done, the innermost first.
#[derive(Debug)]
pub struct Failure {
    cause: Box<dyn Error + Send + Sync>,
    doing: Vec<String>,
}

impl Failure {
    /// One of which there is only a text.
    #[cold]
    pub fn said(text: String) -> Failure {
        Failure { cause: text.into(), doing: Vec::new() }
    }

    /// The error itself, where it is one of this type.
    pub fn as_a<E: Error + 'static>(&self) -> Option<&E> {
        self.cause.downcast_ref()
    }

    /// The error and what it comes from.
    pub fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> + '_ {
        let first: &(dyn Error + 'static) = &*self.cause;
        std::iter::successors(Some(first), |cause: &&(dyn Error + 'static)| (**cause).source())
    }
}

/// All of it, the outermost first: `what: why`.
impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        for what in self.doing.iter().rev() {
            write!(out, "{what}: ")?;
        }
        write!(out, "{}", self.cause)?;
        self.causes().skip(1).try_for_each(|cause| write!(out, ": {cause}"))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    #[cold]
    fn from(cause: E) -> Failure {
        Failure { cause: Box::new(cause), doing: Vec::new() }
    }
}

/// Says what was being done.
pub trait Context<T> {
    fn context(self, what: impl Into<String>) -> Result<T>;
    fn with_context<W: Into<String>>(self, what: impl FnOnce() -> W) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T> {
        self.with_context(|| what)
    }

    fn with_context<W: Into<String>>(self, what: impl FnOnce() -> W) -> Result<T> {
        self.map_err(|error| {
            let mut failure = error.into();
            failure.doing.push(what().into());
            failure
        })
    }
}

/// A failure of which there is only a text.
macro_rules! failure {
    ($($text:tt)*) => { $crate::cli::failure::Failure::said(format!($($text)*)) };
}

/// Ends a function with one.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::cli::failure::failure!($($text)*)) };
}

pub(crate) use {bail, failure};

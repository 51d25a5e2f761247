//! Confinement of a program and all that it starts by the kernel (Landlock): what it may write, what it may not read. It is for
//! supervised runs; no call of a hook comes here.

use std::io;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux::Rules;

/// What a confined program may do with files. What is not named it may read and not write.
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    /// Directories with all below them, and files; what does not exist is left out.
    pub writable: Vec<PathBuf>,
    /// Directories with all below them, and files.
    pub unreadable: Vec<PathBuf>,
    /// Of these, what may be read all the same.
    pub readable: Vec<PathBuf>,
}

/// What the kernel holds a program to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The version of Landlock's interface that the kernel has.
    pub abi: i32,
    /// What this kernel does not stop, or stops although it need not; empty = it is as it was asked for.
    pub lacks: Vec<&'static str>,
}

/// A confinement that can be entered.
#[derive(Debug)]
pub struct Ready(Rules);

impl Confinement {
    /// Has the kernel prepare it; an error says what it lacks.
    pub fn ready(&self) -> io::Result<Ready> {
        Rules::of(self).map(Ready)
    }
}

impl Ready {
    /// Holds this thread to it, and all that this thread starts from here on. There is no way back.
    pub fn enter(self) -> io::Result<Held> {
        self.0.enter()
    }
}

/// Elsewhere there is nothing of the kind.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Rules;

#[cfg(not(target_os = "linux"))]
impl Rules {
    fn of(_confinement: &Confinement) -> io::Result<Rules> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Landlock"))
    }

    fn enter(self) -> io::Result<Held> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Landlock"))
    }
}

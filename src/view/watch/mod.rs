//! `lazaret watch`: running sessions in the terminal. It reads, and shows; what changes something is started as the command that a
//! person would give, so that nothing is allowed here that is not allowed there.

mod draw;
mod feed;
mod order;
mod plain;
mod popup;
mod preview;
mod rows;
mod screen;
mod sessions;
mod shown;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal, Write};

use anyhow::Result;

use crate::cli::view::WatchArgs;
use crate::cli::{Exit, Machine};
use draw::Paint;
use feed::Feed;
use screen::Screen;

pub fn run(args: &WatchArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let mut feed = Feed::new(machine, args.session.as_deref())?;
    let seen = feed.first()?;
    if args.once || !is_at_terminal() {
        plain::write(&seen, out)?;
        return Ok(Exit::Fine);
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let paint = if set("NO_COLOR") { Paint::Plain } else { Paint::Colour };
    terminal::run(&mut feed, Screen::new(seen, (0, 0)), paint)
}

/// A terminal on both sides, which can do more than print line by line.
fn is_at_terminal() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !dumb
}

//! The terminal: taken over, read, drawn on, and given back however this ends.

use std::io::{self, Stdout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::{cursor, execute, queue, terminal};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::draw::{self, Paint};
use super::feed::Feed;
use super::order::Running;
use super::screen::{Action, Screen};
use crate::cli::Exit;
use crate::host::guard;

/// How long a key is waited for, and how often is looked at what there is.
const KEY: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(300);

/// The terminal while it is ours; it is given back when this goes.
struct Taken(Terminal<CrosstermBackend<Stdout>>);

impl Taken {
    fn take() -> Result<Taken> {
        // A panic ends the process where it stands, after this and what is said of it.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let taken = Taken(Terminal::new(CrosstermBackend::new(io::stdout())).context("the terminal")?);
        terminal::enable_raw_mode().context("the terminal")?;
        execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide).context("the terminal")?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// The terminal as it was; where it is gone there is nobody to say so to. Past the lock of the standard output, which another thread
/// than the one that panics may hold.
fn give_back() {
    let _gone = terminal::disable_raw_mode();
    let mut bytes = Vec::new();
    let _written = queue!(bytes, terminal::LeaveAlternateScreen, cursor::Show);
    let _gone = rustix::io::write(rustix::stdio::stdout(), &bytes);
}

/// Shows what there is until the person leaves, or somebody asks this process to stop.
pub fn run(feed: &mut Feed, mut screen: Screen, paint: Paint) -> Result<Exit> {
    guard::note_stops();
    guard::note_quit();
    let mut taken = Taken::take()?;
    let (mut running, mut looked, mut asked) = (None, Instant::now(), false);
    let left = loop {
        if guard::stop_asked().is_some() {
            break Ok(());
        }
        if let Err(error) = taken.0.draw(|frame| {
            screen.size = frame.area().as_size().into();
            draw::draw(frame, &screen, paint);
        }) {
            break Err(error);
        }
        // What was typed before a question was on the screen is no answer to it.
        if screen.asks()
            && !asked
            && let Err(error) = discard()
        {
            break Err(error);
        }
        asked = screen.asks();
        match key(&mut screen, &mut running) {
            Ok(Action::Leave) => break Ok(()),
            Ok(Action::Nothing | Action::Start(_)) => {}
            Err(error) => break Err(error),
        }
        if let Some((order, done)) =
            running.as_ref().and_then(|now: &Running| Some((&now.order, now.done()?)))
        {
            screen.ended(order, &done, |id| feed.made_before(id));
            running = None;
            screen.take(feed.look());
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            screen.take(feed.look());
        }
    };
    drop(taken);
    if let Some(running) = running {
        running.wait();
    }
    left.context("the terminal").map(|()| Exit::Fine)
}

/// Whether there is something to read within this time: none = the terminal is gone. Who reads one that is gone never comes back.
fn waits(time: Duration) -> io::Result<Option<bool>> {
    let stdin = rustix::stdio::stdin();
    let mut looked = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match rustix::event::poll(&mut looked, Some(&time)) {
        Err(rustix::io::Errno::INTR) => return Ok(Some(false)),
        found => found?,
    };
    let [looked] = looked;
    let gone = looked.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    Ok((!gone).then(|| looked.revents().contains(PollFlags::IN)))
}

/// Throws away what was typed so far.
fn discard() -> io::Result<()> {
    while waits(Duration::ZERO)?.is_some() && event::poll(Duration::ZERO)? {
        event::read()?;
    }
    Ok(())
}

/// Waits for a key for a moment, and does what it says.
fn key(screen: &mut Screen, running: &mut Option<Running>) -> io::Result<Action> {
    // What came with an earlier key is there already.
    let time = match waits(Duration::ZERO)? {
        Some(_) if event::poll(Duration::ZERO)? => Duration::ZERO,
        Some(_) => KEY,
        None => return Ok(Action::Leave),
    };
    if waits(time)?.is_none() {
        return Ok(Action::Leave);
    }
    match event::poll(Duration::ZERO) {
        Ok(true) => {}
        Ok(false) => return Ok(Action::Nothing),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Action::Nothing),
        Err(error) => return Err(error),
    }
    let Event::Key(key) = event::read()? else { return Ok(Action::Nothing) };
    if key.kind == KeyEventKind::Release {
        return Ok(Action::Nothing);
    }
    let action = screen.key(key);
    if let Action::Start(order) = &action {
        match Running::start(order.clone()) {
            Ok(started) => *running = Some(started),
            Err(error) => screen.failed(&format!("{error:#}")),
        }
    }
    Ok(action)
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::Taken;

    /// A release ends where it panics: nothing but the hook gives the terminal back. The test is its own program at a terminal.
    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        if std::env::var_os("LAZARET_PANICS").is_some() {
            std::mem::forget(Taken::take().unwrap());
            panic!("the screen is in a bad way");
        }
        let me = std::env::current_exe().unwrap();
        let line = format!("stty -g; LAZARET_PANICS=1 '{}' --nocapture a_panic_gives; stty -g", me.display());
        let mut script = std::process::Command::new("script");
        script.args(["-qc", &line, "/dev/null"]).env("TERM", "xterm").stdin(std::process::Stdio::null());
        let out = String::from_utf8(script.output().unwrap().stdout).unwrap();
        let at = |what: &str| out.find(what).unwrap_or_else(|| panic!("no {what:?} in {out:?}"));
        assert!(at("\u{1b}[?1049h") < at("\u{1b}[?1049l"), "{out:?}");
        assert!(at("\u{1b}[?1049l").max(at("\u{1b}[?25h")) < at("in a bad way"), "{out:?}");
        let lines: Vec<&str> = out.trim().lines().collect();
        assert_eq!(lines.first(), lines.last(), "{out:?}");
    }
}

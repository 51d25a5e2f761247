//! A program at a terminal of its own, as a person sees it: keys go in, and what is on the screen is read.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "tests"
)]

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{BIN, World};

/// Longest wait for what must come, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is on a screen: what a terminal makes of the bytes that it is sent.
#[derive(Default)]
struct Grid {
    rows: Vec<Vec<char>>,
    at: (usize, usize),
    /// A sequence that is not at its end.
    open: Option<String>,
}

impl Grid {
    fn take(&mut self, c: char) {
        if let Some(mut open) = self.open.take() {
            open.push(c);
            let ends = match open.as_bytes() {
                [b'['] => false,
                [b'[', ..] => matches!(c, '@'..='~'),
                _ => true,
            };
            if ends {
                self.done(&open)
            } else {
                self.open = Some(open)
            }
            return;
        }
        match c {
            '\u{1b}' => self.open = Some(String::new()),
            '\r' => self.at.1 = 0,
            '\n' => self.at = (self.at.0 + 1, 0),
            c => {
                let (row, column) = self.at;
                if self.rows.len() <= row {
                    self.rows.resize(row + 1, Vec::new());
                }
                let cells = &mut self.rows[row];
                if cells.len() <= column {
                    cells.resize(column + 1, ' ');
                }
                cells[column] = c;
                self.at.1 += 1;
            }
        }
    }

    fn done(&mut self, sequence: &str) {
        if sequence.ends_with('J') {
            return self.rows.clear();
        }
        let Some(place) = sequence.strip_prefix('[').and_then(|rest| rest.strip_suffix('H')) else { return };
        let mut numbers = place.split(';').map(|number| number.parse().unwrap_or(1).max(1) - 1);
        self.at = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    }

    fn text(&self) -> String {
        self.rows.iter().map(|row| row.iter().collect::<String>() + "\n").collect()
    }
}

/// The terminal, and the directory where the program on it says what it is.
struct Terminal {
    child: Child,
    dir: PathBuf,
}

impl Drop for Terminal {
    /// Where a test has failed, nothing of it stays.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            if let Ok(pid) = fs::read_to_string(self.dir.join("pid")) {
                let _gone = Command::new("kill").args(["-s", "KILL", pid.trim()]).status();
            }
            let _gone = self.child.kill();
            let _gone = self.child.wait();
        }
    }
}

/// `lazaret` with these arguments at a terminal.
pub struct Screen {
    terminal: Terminal,
    keys: ChildStdin,
    seen: Arc<Mutex<(Grid, Vec<u8>)>>,
}

impl Screen {
    pub fn of(world: &World, args: &[&str], size: (u16, u16)) -> Screen {
        Screen::with(world, args, size, "")
    }

    /// The same with more in its environment (`NAME=value`).
    pub fn with(world: &World, args: &[&str], (columns, rows): (u16, u16), env: &str) -> Screen {
        let quoted = |word: &str| lazaret::domain::single_quoted(word);
        let words: Vec<String> = std::iter::once(&BIN).chain(args).map(|word| quoted(word)).collect();
        let program = format!("echo $$ > pid; exec env {env} {}", words.join(" "));
        let line = format!(
            "stty rows {rows} cols {columns}; tty > tty; stty -a > before; sh -c {}; echo $? > code; stty -a > after",
            quoted(&program)
        );
        let dir = world.home().join("terminal");
        let _earlier = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env_clear().env("HOME", world.home());
        script.env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color").current_dir(&dir);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script starts");
        let seen = Arc::new(Mutex::new((Grid::default(), Vec::new())));
        let (mut out, into) = (child.stdout.take().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let (mut buffer, mut rest) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                rest.extend_from_slice(&buffer[..read]);
                // A character may be cut in two.
                let whole = std::str::from_utf8(&rest).map_or_else(|error| error.valid_up_to(), str::len);
                let text = String::from_utf8(rest.drain(..whole).collect()).unwrap();
                let mut seen = into.lock().unwrap();
                seen.1.extend_from_slice(text.as_bytes());
                text.chars().for_each(|c| seen.0.take(c));
            }
        });
        Screen { keys: child.stdin.take().unwrap(), terminal: Terminal { child, dir }, seen }
    }

    /// Takes the terminal away, as a window that is closed does; gives the process that was on it.
    pub fn cut(&mut self) -> PathBuf {
        let pid = fs::read_to_string(self.terminal.dir.join("pid")).unwrap();
        self.terminal.child.kill().unwrap();
        self.terminal.child.wait().unwrap();
        PathBuf::from(format!("/proc/{}", pid.trim()))
    }

    pub fn text(&self) -> String {
        self.seen.lock().unwrap().0.text()
    }

    /// Every byte that was sent to the terminal.
    pub fn raw(&self) -> String {
        String::from_utf8(self.seen.lock().unwrap().1.clone()).unwrap()
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen is as it must be.
    pub fn until(&self, what: &str, done: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if done(&text) {
                return text;
            }
            assert!(begun.elapsed() < PATIENCE, "waited too long for {what}:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn shows(&self, words: &str) -> String {
        self.until(words, |text| text.contains(words))
    }

    pub fn shows_no(&self, words: &str) -> String {
        self.until(&format!("no {words}"), |text| !text.contains(words))
    }

    /// Makes the window another size, as a person with a mouse does.
    pub fn resize(&self, columns: u16, rows: u16) {
        let tty = self.file("tty");
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let words = ["-F", tty.trim(), "rows", &rows, "cols", &columns];
        assert!(Command::new("stty").args(words).status().unwrap().success());
    }

    pub fn signal(&self, name: &str) {
        let pid = self.file("pid");
        assert!(Command::new("kill").args(["-s", name, pid.trim()]).status().unwrap().success());
    }

    /// A file that the shell at the terminal writes.
    fn file(&self, name: &str) -> String {
        let begun = Instant::now();
        loop {
            match fs::read_to_string(self.terminal.dir.join(name)) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => assert!(begun.elapsed() < PATIENCE, "{name} was never written:\n{}", self.text()),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for its end: the exit code, and whether the terminal is as it was before.
    pub fn ends(mut self) -> (i32, bool) {
        let code = self.file("code").trim().parse().unwrap();
        let same = self.file("before") == self.file("after");
        drop(self.keys);
        self.terminal.child.wait().unwrap();
        let seen = self.seen.lock().unwrap();
        let raw = String::from_utf8_lossy(&seen.1).into_owned();
        let given_back = match (raw.rfind("\u{1b}[?1049h"), raw.rfind("\u{1b}[?1049l")) {
            (None, _) => true,
            (Some(taken), back) => back > Some(taken) && raw.rfind("\u{1b}[?25h") > raw.rfind("\u{1b}[?25l"),
        };
        (code, same && given_back)
    }
}

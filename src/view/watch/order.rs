//! What a person gives as an order here: each is a command of `lazaret`, which is started at this terminal and sees to its own safety.

use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use anyhow::Result;

use super::shown::Shown;
use crate::host::released;

/// Most of what it says that is kept, in bytes.
const SAID: usize = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    Allow {
        code: String,
    },
    Refuse {
        code: String,
    },
    Resume {
        client: String,
        session: String,
    },
    /// What a rollback of the session's last call would put back.
    Preview {
        client: String,
        session: String,
    },
    /// Rollback of one checkpoint.
    Rollback {
        id: String,
    },
}

impl Order {
    /// The words behind the program's name.
    pub fn words(&self) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Order::Allow { code } => words(&["allow", "--", code]),
            Order::Refuse { code } => words(&["allow", "--refuse", "--", code]),
            Order::Resume { client, session } => {
                words(&["resume", &format!("--client={client}"), "--", session])
            }
            Order::Preview { client, session } => {
                let (client, session) = (format!("--client={client}"), format!("--session={session}"));
                words(&["rollback", "--last", "--dry-run", "--json", &client, &session])
            }
            Order::Rollback { id } => words(&["rollback", "--", id]),
        }
    }
}

/// What came of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// It ended with exit code 0.
    pub fine: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// What it said, line by line.
    pub fn lines(&self) -> Vec<Shown> {
        self.stdout.lines().chain(self.stderr.lines()).map(Shown::whole).collect()
    }
}

/// An order that is being carried out.
#[derive(Debug)]
pub struct Running {
    pub order: Order,
    told: Receiver<Done>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Starts the command; its standard input is the terminal.
    pub fn start(order: Order) -> Result<Running> {
        let mut command = Command::new(released::beside(released::BINARY)?);
        command.args(order.words()).stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (tell, told) = channel();
        let thread = thread::spawn(move || {
            let done = match command.output() {
                Ok(out) => {
                    Done { fine: out.status.success(), stdout: text(&out.stdout), stderr: text(&out.stderr) }
                }
                Err(error) => {
                    let stderr = format!("{}: {error}", command.get_program().display());
                    Done { stderr, ..Done::default() }
                }
            };
            // Nobody is there to be told any more.
            let _gone = tell.send(done);
        });
        Ok(Running { order, told, thread })
    }

    /// What came of it; none = it is not at its end.
    pub fn done(&self) -> Option<Done> {
        match self.told.try_recv() {
            Ok(done) => Some(done),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Done::default()),
        }
    }

    /// Waits for its end: what changes files is not left half-way.
    pub fn wait(self) {
        // A thread that panicked has said so.
        let _ended = self.thread.join();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..SAID).unwrap_or(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::cli::args::{Cli, Command};
    use crate::domain::Client;

    /// Whatever a session is called, it is an operand and no option.
    #[test]
    fn every_order_is_a_command_line_that_lazaret_understands() {
        let odd = || "--json".to_owned();
        let orders = [
            Order::Allow { code: odd() },
            Order::Refuse { code: odd() },
            Order::Resume { client: "codex".to_owned(), session: odd() },
            Order::Preview { client: "codex".to_owned(), session: odd() },
            Order::Rollback { id: odd() },
        ];
        for order in orders {
            let words = ["lazaret".to_owned()].into_iter().chain(order.words());
            let understood = match (&order, Cli::try_parse_from(words).map(|cli| cli.command)) {
                (Order::Allow { .. }, Ok(Command::Allow { code, refuse })) => code == "--json" && !refuse,
                (Order::Refuse { .. }, Ok(Command::Allow { code, refuse })) => code == "--json" && refuse,
                (Order::Resume { .. }, Ok(Command::Resume { session, client })) => {
                    session == "--json" && client.is_some_and(|client| client.name() == "codex")
                }
                (Order::Preview { .. }, Ok(Command::Rollback(args))) => {
                    let whose = args.client.map(Client::name).zip(args.session.as_deref());
                    args.dry_run && args.json && args.last && whose == Some(("codex", "--json"))
                }
                (Order::Rollback { .. }, Ok(Command::Rollback(args))) => {
                    !args.dry_run && !args.json && args.id.as_deref() == Some("--json")
                }
                _ => false,
            };
            assert!(understood, "{order:?}");
        }
    }
}

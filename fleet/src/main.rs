//! `lazaret-fleet`: one policy for many machines. It makes, signs and applies bundles of what stands in `/etc/lazaret/config.toml`, which
//! no user of a machine can loosen. The hook knows nothing of it: what is applied is a file that it reads anyway.

mod apply;
mod bundle;
mod evidence;
mod pack;
mod place;
mod pull;
mod registry;
mod report;
mod review;
mod serve;
mod settings;
mod show;
mod signature;
mod stop;
mod store;
mod tighten;
mod tls;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

/// One policy for many machines that lazaret guards
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  lazaret-fleet policy pack policy/ --name acme --number 7 --expires 2027-01-01 --output acme-7.json\n  \
    lazaret-fleet policy sign acme-7.json --key minisign.key\n  sudo lazaret-fleet policy apply acme-7.json\n\n\
    Exit code 0: done, or in force already. 1: refused, with the reason; what was in force stays in force."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bundles of configuration: make, sign, check and apply them
    #[command(subcommand)]
    Policy(Policy),
    /// Answer hooks on this machine what holds on several; runs until it is ended
    Serve {
        #[command(flatten)]
        config: Config,
        /// The socket; root's is the machine's, and anybody else's lies in lazaret's state directory
        #[arg(long, value_name = "FILE")]
        socket: Option<PathBuf>,
    },
    /// Send the events of this user's log to a collector of OpenTelemetry or syslog; runs until it is ended
    Send {
        #[command(flatten)]
        config: Config,
        /// lazaret's state directory, where it is not this user's
        #[arg(long, value_name = "DIR")]
        state: Option<PathBuf>,
        /// End when everything is sent; with 1 when the collector does not take it within half a minute
        #[arg(long)]
        once: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Say what many machines sent to a collector, out of the files that it wrote
    Report(report::Report),
    /// Review sessions that are opened on one machine and used on others
    #[command(subcommand)]
    Review(review::Review),
    /// Stop sessions on all machines
    Stop {
        #[command(flatten)]
        what: stop::What,
        /// The reason, which every agent that is stopped is told
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        config: Config,
    },
    /// Let sessions that were stopped go on
    Resume {
        #[command(flatten)]
        what: stop::What,
        #[command(flatten)]
        config: Config,
    },
    /// Show what is stopped on all machines
    Stops {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: Config,
    },
}

/// Where it stands which store machines share.
#[derive(Debug, Args)]
struct Config {
    /// The settings of the fleet
    #[arg(long, value_name = "FILE", default_value_os_t = place::managed().join(settings::SETTINGS))]
    config: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Policy {
    /// Make a bundle of a directory's TOML files
    Pack(Pack),
    /// Sign a bundle: writes BUNDLE.minisig beside it
    Sign {
        /// The bundle
        bundle: PathBuf,
        /// The secret key, as `minisign -G` makes it; its password is asked for where it has one
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Say whether a bundle is signed by a key, and what is in it
    Verify {
        /// The bundle; its signature is BUNDLE.minisig
        bundle: PathBuf,
        /// The public key: the line of `minisign.pub` that begins with RW
        #[arg(long, value_name = "KEY", required = true)]
        key: Vec<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Put a bundle in force on this machine (as root)
    Apply {
        /// The bundle; its signature is BUNDLE.minisig
        bundle: PathBuf,
        /// Put it in the place of a configuration that no bundle brought; that is kept as config.toml.before
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Put a bundle that is signed into a registry of images
    Push(pull::Push),
    /// Fetch the bundle from the address in fleet.toml, and put it in force (as root)
    Pull {
        /// As for apply
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show which bundle is in force on this machine
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// Where a machine's managed configuration lies.
#[derive(Debug, Args)]
struct Place {
    /// The directory of the managed configuration, in an image or a test
    #[arg(long, value_name = "DIR", default_value_os_t = place::managed())]
    dir: PathBuf,
}

#[derive(Debug, Args)]
struct Pack {
    /// The directory; its files `*.toml` are put together, a key may stand in one of them only
    dir: PathBuf,
    /// The policy's name; a machine takes bundles of one name
    #[arg(long)]
    name: String,
    /// Its number: a machine takes no bundle with a lower one than it had
    #[arg(long)]
    number: u64,
    /// From when it may be applied (`2026-12-01`, `2026-12-01T06:00:00Z`)
    #[arg(long, value_name = "TIME", value_parser = bundle::time)]
    not_before: Option<bundle::Time>,
    /// Until when it may be applied; what is in force stays in force
    #[arg(long, value_name = "TIME", value_parser = bundle::time)]
    expires: Option<bundle::Time>,
    /// The lowest version of lazaret that understands it
    #[arg(long, value_name = "VERSION", default_value = env!("CARGO_PKG_VERSION"))]
    lazaret: semver::Version,
    /// On so many of a hundred machines; which ones hangs on the name and the machine, so that more means these and others
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: u8,
    /// The file to write; there must be none of that name
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = io::stdout().lock();
    match run(&cli.command, &mut out) {
        Ok(()) => ExitCode::SUCCESS,
        // Who read it has seen enough.
        Err(error)
            if error.downcast_ref().is_some_and(|e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Says what is wrong to whoever reads standard error; nothing hangs on that anybody does.
fn complain(message: &str) {
    let _unread = writeln!(io::stderr(), "lazaret-fleet: {}", shown(message));
}

/// Whatever a bundle or a server put into a message, a terminal shows it as text.
fn shown(message: &str) -> String {
    message.split('\n').map(lazaret::domain::escape).collect::<Vec<_>>().join("\n")
}

fn run(command: &Command, out: &mut dyn Write) -> Result<()> {
    match command {
        Command::Policy(policy) => of_policy(policy, out),
        Command::Serve { config, socket } => serve::run(&config.config, socket.as_deref(), out),
        Command::Send { config, state, once, place } => {
            evidence::run(&config.config, (state.as_deref(), &place.dir), *once, out)
        }
        Command::Report(args) => report::run(args, out),
        Command::Review(review) => review::run(review, out),
        Command::Stop { what, why, config } => stop::stop(&config.config, what, why, out),
        Command::Resume { what, config } => stop::resume(&config.config, what, out),
        Command::Stops { json, config } => stop::stops(&config.config, *json, out),
    }
}

fn of_policy(policy: &Policy, out: &mut dyn Write) -> Result<()> {
    match policy {
        Policy::Pack(args) => pack::run(args, out),
        Policy::Sign { bundle, key } => signature::sign(bundle, key, out),
        Policy::Verify { bundle, key, json } => show::verified(bundle, key, *json, out),
        Policy::Apply { bundle, replace, place } => apply::run(bundle, &place.dir, *replace, out),
        Policy::Push(push) => pull::push(push, out),
        Policy::Pull { replace, place } => pull::run(&place.dir, *replace, out),
        Policy::Show { json, place } => show::in_force(&place.dir, *json, out),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}

//! A report's material: the log, read once.

use std::path::Path;

use anyhow::{Result, bail};

use super::story::Story;
use crate::cli::Machine;
use crate::cli::audit::{key, select};
use crate::cli::doctor::PROBE;
use crate::cli::progress::{Progress, Total};
use crate::cli::view::ReportArgs;
use crate::domain::escape;
use crate::host::audit::{self, Bad, Checked, Filter, Found, Line, VerificationKey};
use crate::host::clock;

/// What the log holds of what is asked for, and how it verifies.
#[derive(Debug)]
pub struct Material {
    pub story: Story,
    pub chain: Result<Checked, Bad>,
    /// A verification key was given.
    pub with_key: bool,
}

pub fn gather(args: &ReportArgs, machine: &Machine) -> Result<Material> {
    let dir = audit::dir(&machine.dirs.state);
    let key = args.key.as_deref().map(key::read).transpose()?;
    let asked = Asked::new(args, &dir, key.as_ref())?;
    let mut story = Story::default();
    let size = audit::bytes(&dir);
    let (mut progress, mut read) = (Progress::begin("reading the log", Total::Unknown), 0);
    for found in audit::marked(&dir, Filter::default(), key.as_ref())? {
        read += 1;
        // Without `finishing` a stop has ended the process before it comes back.
        let _ = progress.at(read);
        match found? {
            // What doctor asks is no agent's call.
            Found::Line(line) if line.session.starts_with(PROBE) || !asked.is_of(&line) => {}
            Found::Line(line) if asked.is_before(&line) => story.earlier(&line),
            Found::Line(line) => story.add(&line),
            Found::Torn { .. } => story.torn += 1,
        }
    }
    story.close();
    if story.calls().next().is_none() {
        bail!("report: {}", nothing(args));
    }
    progress.turn_to(Total::Bytes(size));
    progress.tell("verifying the log");
    let chain = audit::verify(&dir, key.as_ref(), &mut |done| progress.at(done))?;
    Ok(Material { story, chain, with_key: key.is_some() })
}

/// Why there is nothing to report.
fn nothing(args: &ReportArgs) -> String {
    match (&args.session, &args.since) {
        (Some(session), _) => format!(
            "the log has no call of session {}; `lazaret audit show` names the sessions that it has",
            escape(session)
        ),
        (None, Some(since)) => format!("the log has no call since {}", escape(since)),
        (None, None) => {
            "the log has no call yet; `lazaret doctor` says whether the gate is closed".to_owned()
        }
    }
}

/// What is to be told.
struct Asked {
    client: Option<String>,
    session: Option<String>,
    /// As it stands in lines.
    since: Option<String>,
}

impl Asked {
    /// Where neither session nor time is said, the session of the newest call.
    fn new(args: &ReportArgs, dir: &Path, key: Option<&VerificationKey>) -> Result<Asked> {
        let since = args.since.as_deref().map(|text| select::time(text, "--since")).transpose()?;
        let client = args.client.map(|client| client.name().to_owned());
        if args.session.is_some() || since.is_some() {
            return Ok(Asked { client, session: args.session.clone(), since: since.map(clock::rfc3339) });
        }
        let filter = Filter { client: args.client, ..Filter::default() };
        let newest = newest(filter, dir, key)?;
        let (client, session) = newest.map_or((client, None), |(client, id)| (Some(client), Some(id)));
        Ok(Asked { client, session, since: None })
    }

    /// It is of a session that is meant, or of none.
    fn is_of(&self, line: &Line) -> bool {
        let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|wanted| wanted == has);
        line.session.is_empty() || is(&self.client, &line.client) && is(&self.session, &line.session)
    }

    fn is_before(&self, line: &Line) -> bool {
        self.since.as_ref().is_some_and(|since| line.time < *since)
    }
}

/// Client and session of the newest call; of one that does not verify only where no other is there.
fn newest(filter: Filter, dir: &Path, key: Option<&VerificationKey>) -> Result<Option<(String, String)>> {
    let (mut sound, mut any) = (None, None);
    for found in audit::marked(dir, filter, key)? {
        let Found::Line(line) = found? else { continue };
        if line.verdict.is_none() || line.session.is_empty() || line.session.starts_with(PROBE) {
            continue;
        }
        let newest = if line.wrong.is_none() { &mut sound } else { &mut any };
        *newest = Some((line.client, line.session));
    }
    Ok(sound.or(any))
}

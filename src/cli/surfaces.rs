//! Whether what a file has a client run would be let run as a call; and a person's word on what was taken back.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cli::call;
use crate::domain::{
    Action, Asking, Content, Facts, Places, Policy, Run, Stand, Subject, Tool, ToolCall, Trust, Verdict,
    clip, escape, join, lies_in, single_quoted,
};
use crate::host::dirs::{Dirs, Environment};
use crate::host::watch::{self, shelf::Shelf};
use crate::host::{clock, places, trust};
use crate::review::{self, Case};
use crate::rules::Invocation;

/// The largest file that is read, in bytes: the client's own state may have grown for years.
pub const MAX_READ: u64 = 16 << 20;
/// A directory that is not there, which stands for the one in which a skill or plugin has its own files.
const OWN: &str = "lazaret-judged";
/// What makes a directory a plugin of Claude Code.
const PLUGIN: &str = ".claude-plugin/plugin.json";
/// Most directories above a file that are looked at for one.
const MAX_ABOVE: usize = 8;
/// A directory that is not there, in which code is judged as if it were written.
const NOWHERE: &str = ".lazaret-judged";

/// Judges what files have run, as calls made in a project.
pub struct Judge<'a> {
    places: Places,
    policy: &'a Policy,
    subject: &'a Subject,
    cwd: &'a str,
}

impl<'a> Judge<'a> {
    pub fn of(
        env: &Environment,
        dirs: &Dirs,
        (policy, subject): (&'a Policy, &'a Subject),
        cwd: &'a str,
    ) -> Judge<'a> {
        Judge { places: places::locate(env, dirs, cwd), policy, subject, cwd }
    }

    /// Why what a file has run would not be let run as a call without anybody being asked; none = it would.
    pub fn stops(&self, run: &Run, file: &str) -> Option<String> {
        self.verdict(run, file).map(|(_, why)| why)
    }

    /// The same with what would become of the call.
    pub fn verdict(&self, run: &Run, file: &str) -> Option<(Verdict, String)> {
        match run {
            Run::Always(why) | Run::Unread(why) => Some((Verdict::Modify, why.clone())),
            Run::Command { text, .. } => {
                let (line, scripts) = self.with_places(text, file);
                self.decide(&format!("it has `{}` run", escape(&clip(text, 120))), &shell(line))
                    .or_else(|| scripts.iter().find_map(|path| self.script(path, file)))
            }
            Run::Address(url) => {
                let action = Action::Fetch { url: url.clone(), prompt: String::new() };
                let call = ToolCall { tool: Tool::WebFetch, action, id: None };
                self.decide(&format!("it has `{}` talked to", escape(&clip(url, 120))), &call)
            }
            Run::Code { name, text } => {
                // Without an ending it is a hook: the name of its directory says so.
                let path = join(self.cwd, &format!("{NOWHERE}/.githooks/{name}"));
                let action = Action::Write { path, content: text.clone(), long: None };
                let written = ToolCall { tool: Tool::Write, action, id: None };
                let started =
                    interpreter(name, text).map(|runs| shell(format!("{runs} {}", single_quoted(text))));
                let calls = std::iter::once(written).chain(started);
                calls.into_iter().find_map(|call| self.decide("its code", &call))
            }
        }
    }

    /// A command line with what the client puts in for its own directories, and the scripts beside the file that it names. These lie in
    /// the client's places, where no call may do anything: as the file's own they are judged by what is in them.
    fn with_places(&self, text: &str, file: &str) -> (String, Vec<String>) {
        let mut scripts = Vec::new();
        if !text.contains("CLAUDE_") {
            return (text.to_owned(), scripts);
        }
        let beside = file.rsplit_once('/').map_or("/", |(dir, _)| dir);
        let is_plugin = |dir: &&str| Path::new(dir).join(PLUGIN).is_file();
        let plugin = places::upwards(beside).take(MAX_ABOVE).find(is_plugin);
        let own = join(self.cwd, OWN);
        let known = [
            ("CLAUDE_PROJECT_DIR", Some((self.cwd, self.cwd))),
            ("CLAUDE_SKILL_DIR", Some((own.as_str(), beside))),
            ("CLAUDE_PLUGIN_ROOT", plugin.map(|plugin| (own.as_str(), plugin))),
        ];
        let mut front = String::new();
        let mut out = text.to_owned();
        for (name, places) in known {
            let Some((stands, is)) = places.filter(|_| text.contains(name)) else { continue };
            // The client puts it in itself; where it does not, the shell finds it.
            out = out.replace(&format!("${{{name}}}"), stands);
            front.push_str(&format!("export {name}={}; ", single_quoted(stands)));
            if stands != is {
                scripts.extend(text.split(name).skip(1).filter_map(below).map(|path| join(is, path)));
            }
        }
        (front + &out, scripts)
    }

    /// The same of the code in a script.
    fn script(&self, path: &str, file: &str) -> Option<(Verdict, String)> {
        let Content::Bytes(bytes) = watch::read_up_to(path, MAX_READ) else { return None };
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let (verdict, why) = self.verdict(&Run::Code { name, text: String::from_utf8(bytes).ok()? }, file)?;
        Some((verdict, format!("{}: {why}", escape(path))))
    }

    /// The same of one call.
    fn decide(&self, what: &str, call: &ToolCall) -> Option<(Verdict, String)> {
        let mut facts = Facts::new(self.places.clone());
        let survey = call::understand(call, self.cwd, self.policy, &mut facts);
        // A call starts it once and is judged by what is in it then; here it runs whenever it has changed.
        let program = |inv: &Invocation| inv.word.known().unwrap_or_default().to_owned();
        if survey.invocations.iter().any(|inv| self.is_scratch(&program(inv)) || self.is_scratch(&inv.text)) {
            let why = format!("{what}, with a program in a directory that anybody writes to");
            return Some((Verdict::Modify, why));
        }
        let stand = Stand::default();
        let decision = review::decide(&Case {
            subject: self.subject,
            call,
            cwd: self.cwd,
            trust: Trust::Ordinary,
            standing: None,
            asking: Asking::Yes,
            survey: &survey,
            facts: &facts,
            policy: self.policy,
            stand: &stand,
            now_s: clock::now().unix_ms / 1000,
        });
        let reason = decision.reasons().first().filter(|_| decision.verdict() >= Verdict::Modify)?;
        let why = format!("{what}, which is not let run as a call ({}: {})", reason.rule, reason.message);
        Some((decision.verdict(), why))
    }

    /// Whether a command's program lies in a directory for temporary files, and not in the project or home that lies there itself.
    fn is_scratch(&self, command: &str) -> bool {
        let program = command.split_whitespace().next().unwrap_or_default().trim_matches(['\'', '"']);
        let own = [Some(self.cwd), self.places.home.as_deref()];
        program.starts_with('/')
            && self.places.temp.iter().any(|dir| lies_in(program, dir))
            && !own.iter().flatten().any(|dir| lies_in(program, dir))
    }
}

/// The path behind the name of a directory in a command line, without what is in front of the directory's names.
fn below(behind: &str) -> Option<&str> {
    let path = behind.trim_start_matches(['}', '"', '\'']).strip_prefix('/')?;
    let end =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|' | '&' | '<' | '>' | ')' | '`');
    path.split(end).next().filter(|path| !path.is_empty())
}

fn shell(command: String) -> ToolCall {
    ToolCall { tool: Tool::Bash, action: Action::Shell { command, workdir: None }, id: None }
}

/// The program that runs a file of code, with the option by which it takes the code itself; none = nothing runs it by itself.
fn interpreter(name: &str, text: &str) -> Option<&'static str> {
    if name.ends_with(".json") {
        return None;
    }
    if let (Some((_, end)), false) = (name.rsplit_once('.'), text.starts_with("#!")) {
        return Some(match end {
            "sh" | "bash" => "bash -c",
            "py" => "python3 -c",
            "pl" => "perl -e",
            "rb" => "ruby -e",
            _ => "node -e",
        });
    }
    let line = text.lines().next().unwrap_or_default();
    let words = line
        .split(['/', ' '])
        .rev()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let known = |word: &str| match word {
        "python" => Some("python3 -c"),
        "node" | "bun" | "deno" => Some("node -e"),
        "perl" => Some("perl -e"),
        "ruby" => Some("ruby -e"),
        "php" => Some("php -r"),
        _ => None,
    };
    words.into_iter().find_map(known).or(Some("bash -c"))
}

/// What was moved aside or put back, and why.
pub fn show(dirs: &Dirs, out: &mut dyn Write) -> Result<()> {
    for shelf in Shelf::all(&dirs.state)? {
        for (path, taken) in shelf.taken() {
            writeln!(
                out,
                "{}: taken back ({}); its content is in {}",
                escape(path),
                taken.why,
                escape(&taken.aside)
            )?;
        }
    }
    Ok(())
}

/// Puts a file in place again that was taken back, and accepts it with exactly this content. False = none of that name was.
pub fn allow(dirs: &Dirs, file: &Path, terminal: bool, out: &mut dyn Write) -> Result<Option<String>> {
    let file = std::path::absolute(file)?.to_string_lossy().into_owned();
    for mut shelf in Shelf::all(&dirs.state)? {
        let taken = shelf.taken().find(|(path, _)| **path == file);
        let Some((path, taken)) = taken.map(|(path, taken)| (path.clone(), taken.clone())) else { continue };
        if !terminal {
            bail!("trust allow: only a person at a terminal can give trust; run it in your own shell");
        }
        writeln!(out, "  {}", taken.why)?;
        let aside = Path::new(&taken.aside);
        if fs::symlink_metadata(aside).is_ok_and(|meta| meta.is_file()) {
            let bytes = fs::read(aside).with_context(|| taken.aside.clone())?;
            trust::allow(&dirs.state, &path, &bytes)
                .with_context(|| format!("{path}: trust cannot be kept"))?;
        }
        watch::moved(aside, Path::new(&path))
            .with_context(|| format!("{}: it cannot be put in place", taken.aside))?;
        shelf.gave(&path)?;
        writeln!(out, "{path}: in place again, and accepted with exactly this content")?;
        return Ok(Some(path));
    }
    Ok(None)
}

//! What comes to a program and goes into files of its own naming: by code, by an editor, by a copy of what another command prints; and
//! which files are programs.

use super::outputs::{is_stdin, path_of};
use super::{Taint, Trail};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::{placed, scripts};
use crate::rules::facts;
use crate::rules::matcher::{flag_value, host_of, may_be, target_of};
use crate::rules::survey::is_program_dir;
use crate::shell::Arg;

/// Most words of code that are looked up.
const MAX_WORDS: usize = 64;

impl Trail<'_> {
    /// `cp <(curl …) y`, `curl … | install /dev/stdin y`: the copy is of what another command prints.
    pub(super) fn copies_what_comes(&mut self, inv: &Invocation, came_in: &Taint) {
        if came_in.is_clean() {
            return;
        }
        let listed = inv.operands.iter().take(inv.operands.len().saturating_sub(1));
        let takes = |arg: &Arg| is_stdin(arg) || arg.has_unknown() || arg.prefix().starts_with("/dev/fd/");
        let last = inv.operands.last().and_then(|arg| path_of(&target_of(arg, inv.cwd.as_deref())));
        if let (Some(path), true) = (last, { listed }.any(takes)) {
            self.put(&path, came_in, false);
        }
    }

    /// Programs whose last operand is the file that they write: `uniq - y`, `ed y`, `socat - FILE:y`.
    pub(super) fn last_output(&mut self, inv: &Invocation, came_in: &Taint) {
        let name = inv.operands.last().map(Arg::to_text).unwrap_or_default();
        let name = match inv.program.as_str() {
            "socat" => {
                let kinds = ["FILE:", "OPEN:", "CREATE:", "CREAT:", "GOPEN:"];
                let behind = |kind: &&str| {
                    let front = name.get(..kind.len()).filter(|front| front.eq_ignore_ascii_case(kind))?;
                    name.get(front.len()..)?.split(',').next()
                };
                kinds.iter().find_map(behind).unwrap_or_default()
            }
            _ => name.as_str(),
        };
        if !came_in.is_clean() && !matches!(name, "" | "-") {
            self.put_named(inv, name, came_in);
        }
        // `vim - -c 'w y'`
        for arg in &inv.args {
            let text = arg.text();
            let (verb, name) = text.trim_start_matches(['+', ':', '%']).split_once(' ').unwrap_or_default();
            let saves =
                matches!(verb, "w" | "w!" | "write" | "write!" | "sav" | "sav!" | "saveas" | "saveas!");
            if saves && !came_in.is_clean() {
                self.put_named(inv, name.trim(), came_in);
            }
        }
    }

    /// Code that copies, fetches or writes files.
    pub(super) fn coded(&mut self, inv: &Invocation, taint: &Taint) {
        let home = self.facts.places.home.clone().unwrap_or_default();
        let texts: Vec<String> = inv
            .args
            .iter()
            .map(|arg| scripts::with_home(&arg.text(), &home))
            .filter(|text| text.contains(['"', '\'']))
            .collect();
        for text in texts {
            let mut taint = taint.clone();
            if let Some(host) = fetched_by(&text).filter(|host| super::is_strange(host, self.policy)) {
                taint.host = Some(host);
            }
            let printed = awk_writes(&text);
            self.join_named(inv, &text, &mut taint);
            let by_calls = called_with(&text);
            for name in
                scripts::written(&text).iter().chain(&saved_by(&text)).chain(&printed).chain(&by_calls)
            {
                self.put_named(inv, name, &taint);
            }
            // What is copied is known better than that it is written.
            for placed in placed::placed(&text) {
                let Some(from) = placed.from else { continue };
                let held = self.held(&target_of(&Arg::literal(&from), inv.cwd.as_deref()));
                let mut to = vec![placed.to.clone()];
                let name = last_name(&from);
                to.push(format!("{}/{name}", placed.to.trim_end_matches('/')));
                for to in to.iter().filter(|_| !held.is_clean()) {
                    self.put_named(inv, to, &held);
                }
            }
        }
    }

    /// What code names and came from elsewhere is in what it writes: as content, or as what a script of its is to start.
    fn join_named(&mut self, inv: &Invocation, text: &str, taint: &mut Taint) {
        if self.now.is_empty() || taint.host.is_some() {
            return;
        }
        let strings = scripts::strings(text);
        let words = strings.iter().flat_map(|string| string.split_whitespace()).take(MAX_WORDS);
        let words = words.map(|word| word.trim_matches(['\'', '"', '(', ')', ',', ';']));
        for word in words.filter(|word| !word.is_empty()) {
            let held = self.held(&target_of(&Arg::literal(word), inv.cwd.as_deref()));
            taint.join(&Taint { host: held.host, name: held.name, ..Taint::default() });
        }
    }

    /// `patch FILE PATCH`: what a patch from elsewhere makes of a file is from there too.
    pub(super) fn patched(&mut self, inv: &Invocation, taint: &Taint, came_in: &Taint) {
        let named = flag_value(inv, &["-i", "--input"]).or(inv.operands.get(1));
        let patch = named.map(|arg| self.held(&target_of(arg, inv.cwd.as_deref())));
        let host = Taint { host: patch.unwrap_or_else(|| came_in.clone()).host, ..Taint::default() };
        let to = flag_value(inv, &["-o", "--output"]).or(inv.operands.first());
        let to = to.and_then(|arg| path_of(&target_of(arg, inv.cwd.as_deref())));
        if let (Some(path), false, false) = (to, host.is_clean(), taint.is_clean()) {
            self.put(&path, &host, false);
        }
    }

    /// A file that code or a script names gets new content.
    pub(super) fn put_named(&mut self, inv: &Invocation, name: &str, taint: &Taint) {
        if let Some(path) = path_of(&target_of(&Arg::literal(name), inv.cwd.as_deref())) {
            self.put(&path, taint, false);
        }
    }
}

/// The name of the program that lies at a path.
pub(super) fn program_at(path: &str, glob: bool) -> Option<String> {
    let (dir, name) = path.rsplit_once('/')?;
    if !is_program_dir(dir) {
        return None;
    }
    if glob {
        // The first of those that it may stand for: the ones that take things away.
        return ["rm", "shred", "dd", "bash", "sh", "find", "unlink", "mkfs"]
            .iter()
            .find(|known| may_be(name, known))
            .map(|known| (*known).to_owned());
    }
    facts::find(name).is_some().then(|| name.to_owned())
}

/// The host that code fetches from.
fn fetched_by(code: &str) -> Option<String> {
    let at = ["https://", "http://", "ftp://"].iter().filter_map(|scheme| code.find(scheme)).min()?;
    let url = code.get(at..)?.split(['"', '\'', ' ', ')']).next()?;
    Some(host_of(url))
}

/// The files that calls which fetch save to: `urlretrieve(url, "y")`.
fn saved_by(code: &str) -> Vec<String> {
    const CALLS: &[&str] = &["urlretrieve(", "getstore(", "mirror(", "wget.download("];
    let behind = CALLS.iter().filter_map(|call| code.split_once(call).map(|(_, rest)| rest));
    behind.filter_map(|rest| scripts::strings(rest.split(')').next()?).get(1).cloned()).collect()
}

/// The files that calls of sqlite, Tcl and of JavaScript's other engines write, whose name is their first string.
fn called_with(code: &str) -> Vec<String> {
    const CALLS: &[&str] =
        &["writefile(", "Bun.write(", "writeTextFileSync(", "writeTextFile(", ".once ", ".output "];
    let behind = CALLS.iter().flat_map(|call| code.split(call).skip(1));
    let quoted = behind.filter_map(|rest| {
        let rest = rest.trim_start();
        match rest.chars().next()? {
            quote @ ('\'' | '"' | '`') => rest.get(1..)?.split(quote).next(),
            _ => rest.split_whitespace().next(),
        }
    });
    let tcl = code.split("open ").skip(1).filter_map(|rest| {
        let mut words = rest.split([' ', ']', '\n']);
        let name = words.next()?;
        words.next().filter(|mode| mode.starts_with(['w', 'a'])).map(|_| name)
    });
    quoted.chain(tcl).map(str::to_owned).take(MAX_WORDS).collect()
}

/// The files that awk prints to: `print > "y"`.
fn awk_writes(code: &str) -> Vec<String> {
    let prints = code.contains("print");
    let behind =
        code.split('>').skip(1).filter(|_| prints).map(|rest| rest.trim_start_matches('>').trim_start());
    behind.filter_map(|rest| Some(rest.strip_prefix('"')?.split('"').next()?.to_owned())).collect()
}

//! Lists of files that another program than xargs is handed, line by line, to take every one away: as `xargs rm` does.

use super::call::Call;
use super::options::Parsed;
use super::paths;
use super::scope::fresh_scope;
use super::{Stdin, Surveyor};
use crate::domain::{OneOf, Target};
use crate::rules::facts::{self, Kind};
use crate::shell::Arg;

words!("survey/handed");

static DELETING: OneOf<{ DELETES.len() }> = OneOf::new(DELETES);

/// Whether code opens a file to be written whose name is the very line that it read, or the argument.
fn empties_each(text: &str) -> bool {
    // Every form below has one of these, and few words of a command have.
    if !text.bytes().any(|byte| matches!(byte, b'(' | b'$')) {
        return false;
    }
    let bare: String = text.chars().filter(|c| *c != ' ').collect();
    let opened = bare.split("open(").skip(1).any(|rest| {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rest = rest.get(name.len()..).unwrap_or_default();
        let rest =
            [".strip()", ".rstrip()", "[:-1]"].iter().find_map(|end| rest.strip_prefix(end)).unwrap_or(rest);
        !name.is_empty()
            && ["for", "in"].iter().any(|_| bare.contains(&format!("for{name}in")))
            && [",\"w", ",'w", ",mode=\"w", ",mode='w"].iter().any(|mode| rest.starts_with(mode))
    });
    let written =
        ["File.write(", "file_put_contents(", "writeFileSync(", "truncateSync("].iter().any(|call| {
            bare.split(call).skip(1).any(|rest| {
                let name: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
                let looped =
                    [format!("|{name}|"), format!("({name}=>"), format!("{name}=>"), format!("as{name})")];
                !name.is_empty() && looped.iter().any(|way| bare.contains(way))
            })
        });
    EMPTIED_LINE.iter().any(|way| text.contains(way)) || opened || written
}

/// Whether a program of awk's prints into the file that the line names, instead of reading it.
fn prints_over(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| *c != ' ').collect();
    bare.split(['{', ';', '\n']).filter(|statement| statement.starts_with("print")).any(|statement| {
        let Some((_, target)) = statement.rsplit_once('>') else { return false };
        let target = target.trim_end_matches('}');
        target == "$0" || is_name(target) && bare.contains(&format!("{target}=$0"))
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Surveyor<'_> {
    /// Notes what a program takes away of the files whose names it is handed.
    pub(super) fn handed(&mut self, call: &Call, parsed: &Parsed) {
        let args = call.args();
        let is = |words: &[&str]| args.iter().any(|arg| arg.known().is_some_and(|arg| words.contains(&arg)));
        let list = match parsed.program.name {
            "tar" | "bsdtar" | "gtar" if parsed.has(&["--remove-files"]) => {
                parsed.value(&["-T", "--files-from"])
            }
            "rsync" if parsed.has(&["--remove-source-files"]) => parsed.value(&["--files-from"]),
            "zip" if is(&["-@"]) && parsed.has(&["-m", "--move"]) => None,
            "7z" | "7za" | "7zz" if is(&["-sdel"]) => {
                match args.iter().find(|arg| arg.prefix().contains('@')) {
                    Some(_) => None,
                    None => return,
                }
            }
            "git" if parsed.first_sub() == "rm" && parsed.has(&["--pathspec-from-file"]) => {
                parsed.value(&["--pathspec-from-file"])
            }
            "vidir" if is(&["-"]) => None,
            _ => {
                self.handed_to_code(call);
                return;
            }
        };
        let named = args.iter().filter_map(|arg| {
            let name = arg.known().filter(|_| parsed.program.name.starts_with('7'))?;
            Some(Arg::literal(name.trim_start_matches("-i").strip_prefix('@')?))
        });
        let named: Vec<Arg> = list.cloned().into_iter().chain(named).collect();
        match named.first().filter(|list| list.known() != Some("-")) {
            Some(list) => self.take_away(call, self.listed_in(call, list)),
            None => self.take_away(call, call.input.clone()),
        }
    }

    /// Code that takes away what it reads: `perl -lne unlink`.
    fn handed_to_code(&mut self, call: &Call) {
        let args = call.args();
        let letters = |arg: &Arg| {
            let text = arg.prefix();
            let bundle = text.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() < 8);
            bundle.is_some_and(|rest| {
                rest.contains(['n', 'p', 'R']) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
            })
        };
        let is_awk = call.words.first().and_then(Arg::known).is_some_and(|name| name.ends_with("awk"));
        let deletes =
            |text: &str| DELETING.stands_in(text) || empties_each(text) || is_awk && prints_over(text);
        // Behind these stands code, or the name of a module.
        let leads = |arg: &Arg| CODE.iter().any(|option| arg.prefix().starts_with(option));
        let is_script = |at: usize| !args.get(..at).unwrap_or_default().iter().any(leads);
        let first = args.iter().position(|arg| !arg.prefix().starts_with('-'));
        let file = first.filter(|at| is_script(*at)).and_then(|at| args.get(at));
        let interprets = facts::find(&call.words.first().map(Arg::text).unwrap_or_default())
            .is_some_and(|program| program.kind == Kind::Interpreter);
        let interprets =
            interprets || matches!(call.words.first().and_then(Arg::known), Some("tclsh" | "wish"));
        let file = file.filter(|_| interprets);
        if let Some(file) = file.filter(|_| args.len() > 1) {
            self.ask_content(call, file);
        }
        let script = file.and_then(|file| self.script_text(call, file));
        let (code, text) = match args.iter().position(|arg| deletes(&arg.text())) {
            Some(code) => (code, args.get(code).map(Arg::to_text).unwrap_or_default()),
            None => match (first, script.filter(|text| deletes(text))) {
                (Some(at), Some(text)) => (at, text),
                _ => return,
            },
        };
        let behind: Vec<Arg> =
            args.iter().skip(code + 1).filter(|arg| arg.known() != Some("--")).cloned().collect();
        if !behind.is_empty() && GIVEN.iter().any(|word| text.contains(word)) {
            let front = ["rm", "-rf"].map(Arg::literal);
            let name = call.words.first().map(Arg::to_text).unwrap_or_default();
            let inner = call.unfolded(&name, front.into_iter().chain(behind).collect());
            let mut scope = fresh_scope(&self.facts.places, call.cwd.clone());
            self.run(inner, &mut scope);
            return;
        }
        let by_line = is_awk || args.get(..code).unwrap_or_default().iter().any(letters);
        if !by_line && !READS.iter().any(|word| text.contains(word)) {
            return;
        }
        let file = args.get(code + 1).filter(|_| by_line);
        let list = match file {
            Some(file) => self.listed_in(call, file),
            None => call.input.clone(),
        };
        self.take_away(call, list);
    }

    /// What stands in a file that the call itself wrote.
    pub(super) fn listed_in(&self, call: &Call, list: &Arg) -> Option<Arg> {
        match paths::target(list, call.cwd.as_deref(), false) {
            Target::Path { path, glob: false, .. } => self.written(&path).cloned(),
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => None,
        }
    }

    fn take_away(&mut self, call: &Call, list: Option<Arg>) {
        let name = call.words.first().map(Arg::to_text).unwrap_or_default();
        // What git lists in the project is git's to bring back.
        let outside =
            call.cwd.as_deref().is_none_or(|cwd| paths::in_project(cwd, &self.facts.places).is_none());
        if list.is_none() && (name != "git" || call.stdin != Stdin::Pipe || !outside) {
            return;
        }
        let mut inner =
            call.unfolded(&name, vec![Arg::literal("xargs"), Arg::literal("rm"), Arg::literal("-rf")]);
        inner.input = list;
        inner.depth = inner.depth.saturating_add(1);
        let mut scope = fresh_scope(&self.facts.places, call.cwd.clone());
        self.run(inner, &mut scope);
    }
}

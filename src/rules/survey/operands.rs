//! What is done to the operands of a program.

use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use super::paths;
use super::{Flag, Stdin, Surveyor};
use crate::rules::facts::{Kind, Operands};
use crate::shell::{Arg, Piece};

/// Whether a program for disks is told nothing but to look.
pub(super) fn only_looks(parsed: &Parsed) -> bool {
    let looks: &[&str] = match parsed.program.name {
        "hdparm" => &["-I", "-i", "-g", "-C", "-t", "-T", "-v"],
        // Without `-w` and `-n` it reads.
        "wipefs" => return parsed.has(&["-n", "--no-act"]),
        // Told to answer no to everything; marking of bad blocks is done all the same.
        "fsck" | "e2fsck" => {
            return parsed.has(&["-n", "-N"]) && !parsed.has(&["-c", "-l", "-L", "-y", "-p", "-a", "-D"]);
        }
        "parted" => {
            const LOOKS: &[&str] = &[
                "print", "p", "free", "list", "all", "unit", "s", "B", "KiB", "MiB", "GiB", "MB", "GB", "%",
                "help",
            ];
            let mut told = parsed.operands.iter().skip(1).peekable();
            let looks = told.peek().is_some()
                && told.all(|word| word.known().is_some_and(|word| LOOKS.contains(&word)));
            return looks || parsed.has(&["-l", "--list"]);
        }
        "badblocks" => &["-s", "-v", "-b", "-c"],
        _ => return parsed.has(&["-l", "--list"]),
    };
    let told = |flag: &Flag| looks.contains(&flag.name.as_str());
    (parsed.program.name == "badblocks" || !parsed.flags.is_empty()) && parsed.flags.iter().all(told)
}

impl Surveyor<'_> {
    /// Notes what a program does to its operands.
    pub(super) fn operands(&mut self, call: &Call, parsed: &Parsed) {
        self.unpacked(call, parsed);
        self.handed(call, parsed);
        self.by_role(call, parsed);
    }

    fn by_role(&mut self, call: &Call, parsed: &Parsed) {
        let operands = parsed.operands.as_slice();
        let recursive = parsed.recursive();
        match parsed.role() {
            Operands::Text => {}
            Operands::Read => {
                self.each(call, Act::Read, operands, recursive);
                if let ("unzip", Some((_, members))) = (parsed.program.name, operands.split_first()) {
                    self.unpack(call, parsed.value(&["-d"]), members, 0);
                }
            }
            Operands::Create => {
                self.each(call, Act::Create, operands, false);
                if parsed.program.name == "mkdir" {
                    let made = operands
                        .iter()
                        .map(|arg| paths::target(arg, call.cwd.as_deref(), false).text().to_owned());
                    self.made.extend(made.take(64));
                }
            }
            Operands::Modify => {
                let whole = recursive || parsed.program.name.starts_with("trash");
                // What names another file for the result leaves this one as it is.
                let result = parsed.value(&["-o", "--output"]);
                if result.is_some() {
                    self.copy(call, operands, result);
                }
                self.each(call, if result.is_some() { Act::Read } else { Act::Modify }, operands, whole);
            }
            Operands::Delete => {
                let wide = recursive || matches!(parsed.program.name, "rimraf" | "srm" | "del-cli");
                if parsed.program.name == "del-cli"
                    || parsed.program.name == "rimraf" && parsed.has(&["--glob"])
                {
                    let expanded: Vec<Arg> = operands.iter().map(own_globs).collect();
                    self.each(call, Act::Delete, &expanded, wide);
                } else {
                    self.each(call, Act::Delete, operands, wide);
                }
            }
            Operands::Pattern => {
                let act = if includes_inplace(parsed) { Act::Modify } else { Act::Read };
                self.each(call, act, behind_pattern(parsed), recursive);
                if searches_here(call, parsed) {
                    self.file(call, Act::Read, &Arg::literal("."), true);
                }
            }
            Operands::PatternEdit => {
                let act =
                    if parsed.has(&["-i", "--in-place", "--inplace"]) { Act::Modify } else { Act::Read };
                self.each(call, act, behind_pattern(parsed), false);
            }
            Operands::Copy | Operands::Move | Operands::Link | Operands::Remote => {
                self.transfer(call, parsed)
            }
            Operands::ModeModify => self.modes(call, parsed),
            Operands::ReadWrite | Operands::WriteRead => self.first_and_others(call, parsed),
            Operands::Dd => self.dd(call, operands),
            Operands::Tar => self.tar(call, parsed),
            Operands::Device => {
                for arg in operands.iter().filter(|arg| arg.prefix().starts_with('/')) {
                    let act = if only_looks(parsed) { Act::Read } else { Act::Modify };
                    self.file(call, act, arg, false);
                }
            }
            Operands::Urls => self.urls(call, parsed),
        }
    }

    /// What is done to the first operand is the opposite of what is done to the others.
    fn first_and_others(&mut self, call: &Call, parsed: &Parsed) {
        let Some((first, others)) = parsed.operands.split_first() else { return };
        if parsed.role() == Operands::ReadWrite {
            self.file(call, Act::Read, first, false);
            return self.each(call, Act::Create, others, false);
        }
        self.file(call, Act::Create, first, false);
        let moves = parsed.program.name == "zip" && parsed.has(&["-m", "--move"]);
        self.each(call, if moves { Act::Delete } else { Act::Read }, others, parsed.recursive());
    }

    fn modes(&mut self, call: &Call, parsed: &Parsed) {
        let operands = parsed.operands.as_slice();
        let by_flag =
            |flag: &Flag| flag.name.len() == 2 && flag.name.ends_with(['r', 'w', 'x', 'X', 's', 't']);
        let given = parsed.has(&["--reference"])
            || (parsed.program.name == "chmod" && parsed.flags.iter().any(by_flag));
        let files = operands.get(usize::from(!given)..).unwrap_or_default();
        self.each(call, Act::Modify, files, parsed.has(&["-R", "--recursive"]));
    }

    fn dd(&mut self, call: &Call, operands: &[Arg]) {
        for arg in operands {
            let Some((key, _)) = arg.prefix().split_once('=') else { continue };
            let value = super::options::after(arg, key.len() + 1).unwrap_or_default();
            match key {
                // A shell that takes the word for an assignment expands the tilde.
                "of" => {
                    let home = self.facts.places.home.as_deref();
                    self.file(call, Act::Create, &super::declares::at_home(value, home), false);
                }
                "if" => self.file(call, Act::Read, &value, false),
                _ => {}
            }
        }
    }

    fn tar(&mut self, call: &Call, parsed: &Parsed) {
        let mut operands = parsed.operands.as_slice();
        let mut mode = String::new();
        let mut archive = parsed.value(&["-f", "--file"]).cloned();
        // The old way: `tar xzf file`.
        let modern = parsed
            .flags
            .iter()
            .any(|flag| matches!(flag.name.as_str(), "-c" | "-x" | "-t" | "-r" | "-u" | "-d" | "-A"))
            || parsed.has(&[
                "--create",
                "--extract",
                "--get",
                "--list",
                "--append",
                "--update",
                "--delete",
                "--diff",
            ]);
        if let (false, Some((first, rest))) = (modern, operands.split_first()) {
            mode.push_str(first.prefix());
            operands = rest;
            if mode.contains('f') && archive.is_none() {
                archive = operands.first().cloned();
                operands = operands.get(1..).unwrap_or_default();
            }
        }
        let is = |letter: char, names: &[&str]| mode.contains(letter) || parsed.has(names);
        let dir = parsed.value(&["-C", "--directory"]).cloned();
        let archive = archive.unwrap_or_else(|| Arg::literal("-"));
        if is('x', &["-x", "--extract", "--get"]) {
            self.file(call, Act::Read, &archive, false);
            let strip = parsed.value(&["--strip-components"]).and_then(Arg::known);
            let strip = strip.and_then(|count| count.parse().ok()).unwrap_or(0);
            self.unpack(call, dir.as_ref(), operands, strip);
            self.renamed(call, parsed, dir.as_ref());
            if operands.is_empty() {
                self.land_unknown(call, dir.as_ref());
            }
            if let Some(top) = parsed.value(&["--one-top-level"]) {
                self.unpack(call, dir.as_ref(), std::slice::from_ref(top), 0);
                self.land_unknown(call, Some(top));
            }
            self.file(call, Act::Create, &dir.unwrap_or_else(|| Arg::literal(".")), false);
        } else if is('t', &["-t", "--list", "-d", "--diff"]) {
            self.file(call, Act::Read, &archive, false);
        } else {
            self.file(call, Act::Create, &archive, false);
            let removes = parsed.has(&["--remove-files"]);
            for arg in operands {
                // What is deleted is counted from where `-C` leads.
                let inside = dir.as_ref().filter(|_| removes && !arg.prefix().starts_with('/')).map(|dir| {
                    let mut inside = dir.clone();
                    super::output::append(&mut inside, &Arg::literal("/"));
                    super::output::append(&mut inside, arg);
                    inside
                });
                let act = if removes { Act::Delete } else { Act::Read };
                self.file(call, act, inside.as_ref().unwrap_or(arg), true);
            }
        }
    }
}

/// `awk -i inplace`: what is read is changed.
/// An argument whose patterns the program expands itself, where the shell left them as they are: `npx del-cli '**/*'`.
fn own_globs(arg: &Arg) -> Arg {
    let Some(text) = arg.known().filter(|text| text.contains('*')) else { return arg.clone() };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('*') {
        let (front, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let behind = tail.trim_start_matches('*');
        if !front.is_empty() {
            pieces.push(Piece::Known(front.to_owned()));
        }
        pieces.push(Piece::Glob(tail.strip_suffix(behind).unwrap_or("*").to_owned()));
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Known(rest.to_owned()));
    }
    Arg { pieces: pieces.into() }
}

fn includes_inplace(parsed: &Parsed) -> bool {
    parsed.flags.iter().any(|flag| {
        matches!(flag.name.as_str(), "-i" | "--include")
            && flag.value.as_ref().is_some_and(|value| value.text().contains("inplace"))
    })
}

/// The operands behind the pattern, where an option does not give it.
pub(super) fn behind_pattern<'a>(parsed: &'a Parsed<'_>) -> &'a [Arg] {
    let given = parsed.has(&["-e", "--expression", "--regexp", "-f", "--file", "--from-file", "--files"]);
    // `yq -o json FILE` needs no expression.
    let alone = parsed.program.name == "yq" && parsed.operands.len() == 1;
    let by_script = parsed.program.kind == Kind::Plain && given || alone;
    parsed.operands.get(usize::from(!by_script)..).unwrap_or_default()
}

/// Whether a search that is given no place, and is piped nothing, goes through all that is below the directory it is made in.
pub(super) fn searches_here(call: &Call, parsed: &Parsed) -> bool {
    let name = parsed.program.name;
    parsed.role() == Operands::Pattern
        && (name.ends_with("grep") || matches!(name, "rg" | "ag" | "ack"))
        && parsed.recursive()
        && behind_pattern(parsed).is_empty()
        && call.cwd.is_some()
        && call.input.is_none()
        && call.stdin == Stdin::Inherited
}

/// `host:path`, and `host::module/path`.
pub(super) fn is_remote(arg: &Arg) -> bool {
    let text = arg.prefix();
    text.contains("://")
        || text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// The option behind which the directory stands that links are made in: `-t`, `-sft`.
pub(super) fn is_into(arg: &Arg) -> bool {
    arg.known()
        .and_then(|text| text.strip_prefix('-')?.strip_suffix('t'))
        .is_some_and(|letters| letters.bytes().all(|letter| b"sfnrvib".contains(&letter)))
}

/// Whether links are copied as links: `cp -P`, `cp -a`.
pub(super) fn keeps_links(call: &Call) -> bool {
    let letters = |arg: &Arg| {
        arg.known().and_then(|text| text.strip_prefix('-')).is_some_and(|letters| {
            if letters.starts_with('-') {
                matches!(letters, "-archive" | "-no-dereference")
            } else {
                letters.contains(['P', 'a', 'd', 'R', 'r'])
            }
        })
    };
    call.args().iter().any(letters)
}

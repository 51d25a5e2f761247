//! What a command takes in, and which files it makes of it.

use super::named::program_at;
use super::{MAX_LOOKUPS, Taint, Trail, files};
use crate::domain::{Origin, Reach, Target, join, last_name, lies_in};
use crate::rules::Invocation;
use crate::rules::builtin::downloads::{DECODING, copies_here, downloads, saved_behind};
use crate::rules::builtin::scripts;
use crate::rules::facts::words::QUIET;
use crate::rules::matcher::{
    cuts_to_names, flag_value, has_flag, is_env_file, is_secret, prints_environment, prints_secret, runs,
    runs_code, target_of,
};
use crate::shell::Arg;

words!("trail/outputs");

/// Programs that copy files, and leave what comes in alone unless its name is given to them.
const COPYING: &[&str] = &["cp", "mv", "ln", "install", "rsync", "ditto", "scp"];

/// Whether a program copies files.
pub(super) fn copies_files(inv: &Invocation) -> bool {
    runs(inv, COPYING)
}

/// Whether an argument is the name of the standard input.
pub(super) fn is_stdin(arg: &Arg) -> bool {
    matches!(arg.known(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Whether a script of sed's reads it: `$r /dev/stdin`.
pub(super) fn reads_stdin(arg: &Arg) -> bool {
    arg.known().is_some_and(|text| text.contains("r /dev/stdin") || text.contains("R /dev/stdin"))
}

/// Whether a program may write files that are not redirections.
pub(super) fn writes_files(inv: &Invocation) -> bool {
    runs(inv, WRITING)
}

/// Whether what a program reads may be in the files that it writes; what it copies is followed apart from that.
pub(super) fn passes_into_files(inv: &Invocation) -> bool {
    const APART: &[&str] = &[
        "cp", "mv", "ln", "install", "rsync", "ditto", "scp", "rm", "unlink", "shred", "sed", "gsed", "git",
        "gh", "hg", "svn",
    ];
    writes_files(inv) && !runs(inv, APART)
}

/// How many files [`Trail::inputs`] looks at.
pub(super) fn inputs_of(inv: &Invocation) -> usize {
    let reads = inv.reads.iter().filter(|target| matches!(target, Target::Path { .. })).count();
    if runs(inv, NAMELESS) {
        return reads;
    }
    let named = |arg: &&Arg| {
        let prefix = arg.prefix();
        let absolute = prefix.strip_prefix("if=").unwrap_or(prefix).starts_with('/');
        !arg.has_unknown() && (absolute || inv.cwd.is_some())
    };
    reads + given(inv).filter(named).count()
}

/// Programs whose arguments are no files.
const NAMELESS: &[&str] = &["echo", "printf", "tr", "export", "declare", "typeset", "set"];

/// Options of [`SCRIPTED`] that say it instead.
const SCRIPTS: &[&str] = &["-e", "--regexp", "--expression"];
/// Options of [`SCRIPTED`] that name a file which says it.
const SCRIPT_FILES: &[&str] = &["-f", "--file", "--from-file"];

/// The arguments that may name files.
fn given(inv: &Invocation) -> impl Iterator<Item = &Arg> {
    let scripted = runs(inv, SCRIPTED);
    let by_option = || SCRIPTS.iter().chain(SCRIPT_FILES).any(|flag| has_flag(inv, flag));
    let flags = inv.flags.iter().filter(move |flag| !scripted || !SCRIPTS.contains(&flag.name.as_str()));
    let operands = inv.operands.iter().skip(usize::from(scripted && !by_option()));
    flags.filter_map(|flag| flag.value.as_ref()).chain(operands)
}

/// Whether what a command prints holds what it reads.
pub(super) fn passes_on(inv: &Invocation) -> bool {
    let searches = runs(inv, &["grep", "egrep", "fgrep", "rg"]);
    (runs(inv, PASSING) || prints_secret(inv))
        && !(searches && QUIET.iter().any(|flag| has_flag(inv, flag)))
        && !cuts_to_names(inv)
}

/// Whether a command may print its input without the values in it.
pub(super) fn redacts(inv: &Invocation) -> bool {
    REDACTING.contains(&inv.program.as_str())
}

impl Trail<'_> {
    /// What a command reads.
    pub(super) fn inputs(&mut self, inv: &Invocation) -> Taint {
        let mut taint = Taint::default();
        if prints_environment(inv) {
            taint.secret = Some(Origin::Environment);
        } else if prints_secret(inv) {
            taint.secret = Some(Origin::Settings);
        }
        for target in &inv.reads {
            taint.join(&self.held(target));
        }
        if runs(inv, NAMELESS) {
            return taint;
        }
        let packs = runs(inv, &["tar", "bsdtar", "gtar"]);
        // Behind `tar cf -` it may stand among the operands.
        let named =
            inv.args.iter().position(|arg| arg.known() == Some("-C")).and_then(|at| inv.args.get(at + 1));
        let from = flag_value(inv, &["-C", "--directory"]).or(named).filter(|_| packs);
        let from = from.and_then(|dir| path_of(&target_of(dir, inv.cwd.as_deref())));
        if let Some(from) = &from {
            // The first may be letters: `tar cf - -C dir x`.
            let letters = inv.args.first().filter(|arg| !arg.prefix().starts_with('-'));
            for arg in inv
                .operands
                .iter()
                .filter(|arg| Some(*arg) != letters && !arg.prefix().starts_with(['-', '/']))
            {
                taint.join(&self.held(&target_of(arg, Some(from))));
            }
        }
        for arg in given(inv) {
            let text = arg.text();
            let name = text.strip_prefix("if=").unwrap_or(&text);
            let file = if name.len() == text.len() { arg.clone() } else { Arg::literal(name) };
            taint.join(&self.held(&target_of(&file, inv.cwd.as_deref())));
        }
        taint
    }

    /// What is in a file, or with a directory in all of it.
    pub(super) fn held(&mut self, target: &Target) -> Taint {
        let Target::Path { path, glob, recursive } = target else { return Taint::default() };
        let home = self.facts.places.home.as_deref();
        let mut taint = Taint::default();
        if is_secret(path, *glob, *recursive, home) {
            taint.secret = Some(Origin::Secret);
        } else if is_env_file(path, *glob) {
            taint.secret = Some(Origin::Settings);
        }
        taint.program = program_at(path, *glob);
        if self.now.is_empty() || self.lookups > MAX_LOOKUPS {
            return taint;
        }
        self.lookups += 1;
        if let Some(name) = self.now.program(path) {
            taint.program = Some(name.to_owned());
        }
        let fixed = if *glob { fixed_dir(path) } else { path.as_str() };
        if let Some(origin) = self.now.secret(fixed, true) {
            taint.join(&Taint::of(origin));
        }
        if let Some(mark) = self.now.source(path) {
            taint.join(&Taint::of(&mark.origin));
        }
        taint
    }

    /// The files that a command makes, apart from redirections. `came_in` is what came on its standard input.
    pub(super) fn outputs(&mut self, inv: &Invocation, (taint, came_in): (&Taint, &Taint)) {
        if !writes_files(inv) {
            return;
        }
        let cwd = inv.cwd.as_deref();
        let file = |arg: &Arg| path_of(&target_of(arg, cwd));
        match inv.program.as_str() {
            "cp" | "mv" | "ln" | "install" | "rsync" | "ditto" | "scp" => {
                self.copies(inv);
                self.copies_what_comes(inv, came_in);
            }
            "rm" | "unlink" | "shred" => {
                for path in inv.operands.iter().filter_map(file) {
                    self.forget(&path);
                }
            }
            "tee" | "sponge" => {
                let append = has_flag(inv, "-a") || has_flag(inv, "--append");
                for path in inv.operands.iter().filter_map(file) {
                    self.put(&path, came_in, append);
                }
            }
            "dd" => {
                let to = inv.args.iter().filter_map(Arg::known).find_map(|arg| arg.strip_prefix("of="));
                if let Some(path) = to.and_then(|to| file(&Arg::literal(to))) {
                    self.put(&path, taint, false);
                }
            }
            "split" => {
                let prefix = inv.operands.get(1).and_then(file);
                self.pieces(prefix.or_else(|| cwd.map(|cwd| join(cwd, "xa"))), taint);
            }
            "sed" | "gsed" => {
                if has_flag(inv, "-i") || has_flag(inv, "--in-place") {
                    let takes = inv.args.iter().any(reads_stdin);
                    for path in inv.operands.iter().filter_map(file) {
                        self.wrote(&path, true);
                        if takes && !came_in.is_clean() {
                            self.put(&path, came_in, true);
                        }
                    }
                }
                let scripts = inv.args.iter().map(Arg::to_text).collect::<Vec<_>>();
                for name in scripts.iter().flat_map(|script| scripts::sed_writes(script)) {
                    self.put_named(inv, &name, taint);
                }
            }
            "csplit" => self.pieces(cwd.map(|cwd| join(cwd, "xx")), taint),
            "uniq" | "xxd" | "ed" | "ex" | "vi" | "vim" | "nvim" | "socat" => self.last_output(inv, came_in),
            "patch" | "gpatch" => self.patched(inv, taint, came_in),
            "git" | "gh" | "hg" | "svn" => self.cloned(inv),
            "tar" | "bsdtar" | "gtar" | "zip" | "unzip" | "7z" | "7za" | "7zz" | "gzip" | "pigz"
            | "bzip2" | "xz" | "zstd" | "lz4" | "brotli" | "gunzip" | "unxz" | "bunzip2" | "unzstd"
            | "ar" | "pax" => self.pack(inv, taint, came_in),
            _ if runs(inv, COMPILERS) => self.compiled(inv, taint),
            _ if runs_code(inv) && inv.program != "sort" || inv.program == "sqlite3" => {
                self.coded(inv, came_in);
                self.named_output(inv, taint);
            }
            _ => self.named_output(inv, taint),
        }
    }

    /// Files whose names begin so: the pieces of what came in.
    fn pieces(&mut self, prefix: Option<String>, taint: &Taint) {
        if let Some(prefix) = prefix.filter(|_| !taint.is_clean()) {
            for origin in taint.origins() {
                self.mark(&prefix, Reach::Names, origin);
            }
        }
    }

    /// `gcc a.c -o a`: what is made of a source is as much from elsewhere as the source.
    fn compiled(&mut self, inv: &Invocation, taint: &Taint) {
        let host = Taint { host: taint.host.clone(), ..Taint::default() };
        let builds = inv.program != "go" || inv.sub.first().is_some_and(|sub| sub == "build");
        if host.is_clean() || !builds {
            return;
        }
        let file = |arg: &Arg| path_of(&target_of(arg, inv.cwd.as_deref()));
        match flag_value(inv, &["-o"]).and_then(file) {
            Some(path) => self.put(&path, &host, false),
            None => {
                let stems = inv.operands.iter().filter_map(file);
                let stems: Vec<String> =
                    stems.filter_map(|path| Some(path.rsplit_once('.')?.0.to_owned())).collect();
                let own = file(&Arg::literal("a.out"));
                for path in stems.into_iter().chain(own) {
                    self.put(&path, &host, false);
                }
            }
        }
    }

    /// `openssl -out x`, `gpg -o x`, `sort -o x`; without a name, gpg writes beside its input.
    fn named_output(&mut self, inv: &Invocation, taint: &Taint) {
        if taint.is_clean()
            || !(runs(inv, DECODING) || runs(inv, &["gpg", "gpg2", "age", "sort", "strip", "patchelf"]))
        {
            return;
        }
        let file = |arg: &Arg| path_of(&target_of(arg, inv.cwd.as_deref()));
        match flag_value(inv, &["-out", "-o", "--output"]).and_then(file) {
            Some(path) => self.put(&path, taint, false),
            None if runs(inv, &["gpg", "gpg2"]) => {
                for path in inv.operands.iter().filter_map(file) {
                    self.put(&format!("{path}.gpg"), taint, false);
                    self.put(&format!("{path}.asc"), taint, false);
                }
            }
            None => {}
        }
    }

    fn copies(&mut self, inv: &Invocation) {
        let cwd = inv.cwd.as_deref();
        let into = flag_value(inv, &["-t", "--target-directory"]);
        let (sources, dest) = match (into, inv.operands.split_last()) {
            (Some(dir), _) => (inv.operands.as_slice(), dir),
            (None, Some((last, sources))) => (sources, last),
            (None, None) => return,
        };
        if copies_here(inv) {
            return;
        }
        let Some(dest_path) = path_of(&target_of(dest, cwd)) else { return };
        let text = dest.text();
        // To another machine nothing is left here.
        if runs(inv, &["scp", "rsync"]) && text.split('/').next().is_some_and(|front| front.contains(':')) {
            return;
        }
        let dir = into.is_some() || sources.len() > 1 || text.ends_with('/') || self.is_dir(&dest_path);
        for source in sources {
            let target = target_of(source, cwd);
            let Target::Path { path, glob, .. } = &target else { continue };
            let name = last_name(path);
            let to = if dir && !glob { join(&dest_path, name) } else { dest_path.clone() };
            // Linked or copied, a file that was there is another now.
            if to != *path && !lies_in(path, &to) {
                self.forget(&to);
            }
            self.copy(if *glob { fixed_dir(path) } else { path }, &to);
            let whole = Target::Path { path: path.clone(), glob: *glob, recursive: true };
            let own = self.held(&whole);
            let reach = if *glob { Reach::Tree } else { Reach::File };
            if let Some(origin) = own.secret {
                self.mark(&to, reach, origin);
            }
            if let Some(name) = own.program {
                self.mark(&to, Reach::File, Origin::Program(name));
            }
            if inv.program == "mv" {
                self.forget(path);
            }
        }
    }

    /// What a command fetches into files.
    pub(super) fn fetch(&mut self, inv: &Invocation, all: &[Invocation], host: &str) {
        let copied = inv.operands.last().filter(|_| copies_here(inv));
        let copied = copied.map(|arg| target_of(arg, inv.cwd.as_deref()));
        let strange = super::is_strange(host, self.policy);
        let fetched: Vec<Target> = downloads(inv).chain(saved_behind(inv, all)).chain(copied).collect();
        for path in fetched.iter().filter_map(path_of) {
            self.forget(&path);
            let of_copier = copies_here(inv) && self.is_dir(&path);
            if strange || files::is_script_name(&path) {
                let reach = if of_copier { Reach::Tree } else { Reach::File };
                self.mark(&path, reach, Origin::Fetched(host.to_owned()));
            }
        }
    }

    /// All in a directory came from elsewhere, unless it is one that is worked in.
    pub(super) fn unpacked(&mut self, dir: &str, host: &str) {
        let places = &self.facts.places;
        let worked_in = places.roots().chain(places.home.as_deref()).any(|root| lies_in(root, dir));
        let shared = places.temp.iter().any(|temp| temp == dir);
        if !worked_in && !shared {
            self.mark(dir, Reach::Tree, Origin::Fetched(host.to_owned()));
        }
    }
}

/// The path of a target, where all of it is known.
pub(super) fn path_of(target: &Target) -> Option<String> {
    match target {
        Target::Path { path, glob: false, .. } => Some(path.clone()),
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => None,
    }
}

/// The directory that all of a pattern's paths lie in.
fn fixed_dir(pattern: &str) -> &str {
    let at = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let end = pattern.get(..at).and_then(|start| start.rfind('/')).unwrap_or(0);
    pattern.get(..end).unwrap_or_default()
}

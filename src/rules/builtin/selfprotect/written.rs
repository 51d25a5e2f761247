//! Programs that are given a protected place in a role in which they may write it, where the tables say no more of it.

use crate::domain::Target;
use crate::rules::Invocation;
use crate::rules::builtin::statements;
use crate::rules::facts::{self, Kind, Operands, Operation};
use crate::rules::matcher::{
    At, Found, Scene, at, code_of, contains_word, flag_value, has_flag, input_of, is_prose, is_protected,
    runs, runs_code, target_of,
};
use crate::shell::Arg;

words!("builtin/selfprotect/written");
/// Programs that change what they are given unless they are told to look.
const FORMATTERS: &[&str] = &["black", "isort", "pyupgrade", "dprint"];
const CHECK_FLAGS: &[&str] = &["--check", "--check-only", "--diff", "--dry-run", "--list-different", "-c"];

/// Programs that look at what they are given unless they are told to edit it.
pub(super) const EDITORS: &[&str] = &["dasel", "crudini", "tomlq", "jaq", "toml", "toml-cli", "initool"];

/// Builders that are told what to test by a pattern.
const TESTERS: &[&str] = &["gradle", "gradlew", "mvn", "mvnw"];

/// A protected place is what an argument names to a program that may write it.
pub(super) fn named<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        may_write(inv) && {
            // What is copied out of a place stays as it is.
            if inv.sub.iter().any(|sub| sub == "cp")
                || inv.operands.iter().any(|arg| arg.known() == Some("cp"))
            {
                return copies(inv, scene);
            }
            let changes = WRITE_FLAGS.iter().any(|flag| has_flag(inv, flag)) || runs(inv, FORMATTERS);
            // Hundreds of options say the same again and again.
            let mut before = [None; 2];
            inv.args
                .iter()
                .filter(|arg| {
                    let again = before.contains(&Some(*arg));
                    before = [before[1], Some(*arg)];
                    // `npm test *`, `gradlew --tests *`: names of tests.
                    let tests =
                        || runs(inv, TESTERS) || inv.args.first().and_then(Arg::known) == Some("test");
                    let any = || matches!(&*arg.text(), "*" | "./*") && tests();
                    !again && !is_prose(inv, arg) && (changes || !any())
                })
                .any(|arg| names_protected(arg, inv, scene) || (changes && reaches_around(arg, inv, scene)))
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a copy lands on a protected place, under its own name or the source's.
fn copies(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let [.., source, dest] = inv.operands.as_slice() else { return false };
    let name = source.text();
    let name = name.rsplit(['/', ':']).next().unwrap_or_default();
    let inside = Arg::literal(&format!("{}/{name}", dest.text()));
    names_protected(dest, inv, scene) || names_protected(&inside, inv, scene)
}

fn may_write(inv: &Invocation) -> bool {
    let Some(program) = facts::find(&inv.program) else { return false };
    let row = program.command(&inv.sub).or_else(|| program.command(inv.sub.get(..1)?));
    let (operation, operands) =
        row.map_or((program.operation, program.operands), |row| (row.operation, row.operands));
    let plain = matches!(program.kind, Kind::Plain | Kind::Dash | Kind::Raw);
    // These are not unfolded, whatever they run.
    let opaque = runs(inv, &["pipx", "sops"]);
    if !(plain || opaque) || matches!(operation, Operation::Nothing | Operation::Look) {
        return is_told_to_edit(inv);
    }
    if operands == Operands::Text {
        return !runs(inv, super::super::lists::CLIENTS) && inv.program != "lazaret";
    }
    let any = |flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
    let told = inv.args.iter().any(|arg| matches!(arg.known(), Some("--write" | "--fix")));
    let by_itself = !any(CHECK_FLAGS) && (any(WRITE_FLAGS) || runs(inv, FORMATTERS));
    operands == Operands::Read && operation == Operation::Process && (told || by_itself)
}

/// Whether a program that looks at what it is given is told to edit it.
fn is_told_to_edit(inv: &Invocation) -> bool {
    runs(inv, EDITORS) && inv.args.iter().filter_map(Arg::known).any(|word| EDITS.contains(&word))
}

/// Another agent's settings, edited by a program whose effects are not known.
pub(super) fn edited<'a>(scene: &Scene<'a>, places: &[At]) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.first(EDITORS, |inv| {
        is_told_to_edit(inv)
            && inv.args.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), places, home))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A directory around a protected place, or a pattern of the program's own for all or all JSON in it.
fn reaches_around(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let text = arg.text();
    let dir = match text.find('*') {
        Some(at) if text.ends_with(['*', '}']) || text.ends_with("json") => {
            text.get(..at).and_then(|front| front.rsplit_once('/')).map(|(dir, _)| Arg::literal(dir))
        }
        _ => None,
    };
    super::around_protected(dir.as_ref().unwrap_or(arg), inv, scene)
}

/// The argument, what is behind its `=`, or what is behind its last `:`.
fn names_protected(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let protected = |target: &Target| is_protected(target, &scene.view);
    if protected(&target_of(arg, inv.cwd.as_deref())) {
        return true;
    }
    let text = arg.text();
    if !text.bytes().any(|byte| matches!(byte, b'=' | b':')) {
        return false;
    }
    let value = text.split_once('=').map(|(_, value)| value);
    let behind = text.rsplit_once(':').map(|(_, path)| path);
    value.into_iter().chain(behind).filter(|part| part.len() > 1).any(|part| {
        let home = scene.view.facts.places.home.as_deref();
        let path = match (part.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => part.to_owned(),
        };
        protected(&target_of(&Arg::literal(&path), inv.cwd.as_deref()))
    })
}

/// Code that takes away, moves or fills the directory around a protected place, by a name that stands in it whole.
pub(super) fn taken_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let found =
        scene.invocations().iter().filter(|inv| runs_code(inv) || runs(inv, &["deno", "bun"])).find(|inv| {
            let takes = |code: &String| {
                let names_one = |text: &str| TAKING_CALLS.iter().any(|word| text.contains(word));
                names_one(code)
                    && code.lines().any(|line| !statements::is_comment(line) && names_one(line))
                    && !scene
                        .account(&inv.program, code)
                        .is_some_and(|account| account.only_looks(TAKING_CALLS))
            };
            code_of(inv, scene).filter(takes).any(|code| {
                let apart = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '/' | '~' | '-');
                code.split(apart).take(4096).filter(|text| text.contains('.')).any(|text| {
                    let path = match (text.strip_prefix("~/"), home) {
                        (Some(rest), Some(home)) => format!("{home}/{rest}"),
                        _ => text.to_owned(),
                    };
                    super::around_protected(&Arg::literal(&path), inv, scene)
                })
            })
        });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A protected place given to a container that may write it.
pub(super) fn mounted(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let values = inv.flags.iter().filter_map(|flag| {
        matches!(flag.name.as_str(), "-v" | "--volume" | "--mount" | "-B" | "--bind")
            .then_some(flag.value.as_ref())?
    });
    let given: Vec<&Arg> =
        if runs(inv, &["bwrap", "lxc"]) { inv.args.iter().collect() } else { values.collect() };
    given.into_iter().any(|value| {
        let text = value.text();
        let fields: Vec<&str> = text.split(',').collect();
        let of = |field: &&str| {
            field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")).map(str::to_owned)
        };
        let source = fields.iter().find_map(of);
        let read_only = fields.iter().any(|field| matches!(*field, "readonly" | "ro" | "readonly=true"))
            || text.rsplit(':').next().is_some_and(|options| options.split(',').any(|word| word == "ro"));
        let source = source.unwrap_or_else(|| text.split(':').next().unwrap_or_default().to_owned());
        !read_only && !source.is_empty() && super::around_protected(&Arg::literal(&source), inv, scene)
    })
}

/// A patch that changes a protected place.
pub(super) fn patched(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if inv.program == "git" && !inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "apply" | "am")) {
        return false;
    }
    let facts = scene.view.facts;
    let file = flag_value(inv, &["-i", "--input"]);
    let files = inv.operands.iter().chain(file).filter_map(|arg| {
        facts.content(target_of(arg, inv.cwd.as_deref()).text()).flatten().map(str::to_owned)
    });
    files.chain(input_of(inv, scene)).any(|patch| patch.lines().any(|line| changes(line, inv, scene)))
}

/// Whether a line of a patch says that a protected place is changed, with any number of directories in front of it.
fn changes(line: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    const STARTS: &[&str] =
        &["+++ ", "--- ", "rename to ", "rename from ", "copy to ", "diff --git ", "Index: "];
    let Some(names) = STARTS.iter().find_map(|start| line.strip_prefix(start)) else { return false };
    names.split_whitespace().any(|name| {
        let mut rest = name.trim_matches('"');
        for _ in 0..8 {
            if names_protected(&Arg::literal(rest), inv, scene) {
                return true;
            }
            match rest.split_once('/') {
                Some((_, tail)) => rest = tail,
                None => return false,
            }
        }
        false
    })
}

/// An archive whose members get other names, or places outside the directory that it is unpacked in.
pub(super) fn renamed_members(inv: &Invocation) -> bool {
    let names = ["--transform", "--xform", "-s"];
    let named = inv
        .flags
        .iter()
        .filter(|flag| names.contains(&flag.name.as_str()))
        .filter_map(|flag| flag.value.as_ref());
    let words = [".claude", ".opencode", "opencode.json", "lazaret"];
    let mut texts = named.map(Arg::text);
    super::unpacks(inv) && texts.any(|text| words.iter().any(|word| contains_word(&text, word)))
}

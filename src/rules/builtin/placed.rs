//! Calls of code that put files somewhere: copies, moves, links, archives that are unpacked. Says them as the command of the shell that
//! does the same; nothing is judged here.

use super::scripts;
use crate::domain::single_quoted;
use crate::rules::matcher::Sought;

words!("builtin/placed");

/// Calls that lay what is in one directory over another.
const TREES: &[&str] = &["copytree(", "cpSync(", "copySync(", "copy_tree("];

/// Calls with the directory that is filled as their last argument.
const UNPACKS: &[&str] = &["extractall(", "unpack_archive(", "extractTo("];

/// Calls that read the tree which is their last string.
const PACKS: &[&str] = &["make_archive(", ".add("];

/// Most calls of one text.
const MAX_CALLS: usize = 16;

/// A thing that is put somewhere; without a source its name is not known before the code runs.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::rules) struct Placed {
    pub from: Option<String>,
    pub to: String,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Tree,
    Unpack,
    Pack,
}

impl Placed {
    /// The same as a command of the shell.
    pub(super) fn command(&self) -> String {
        let end = if self.way == Way::Tree { "" } else { "/" };
        let to = format!("{}{end}", self.to.trim_end_matches('/'));
        let to = match to.strip_prefix("~/") {
            Some(rest) => format!("~/{}", single_quoted(rest)),
            None => single_quoted(&to),
        };
        match (self.way, &self.from) {
            (Way::Unpack, _) => format!("tar xf \"$archive\" -C {to}"),
            (Way::Pack, _) => format!("tar cf archive.tar {to}"),
            (Way::Tree, Some(from)) => {
                let from = single_quoted(from);
                format!("cp -rT {from} {to} && cp -r {from} {to}/")
            }
            (Way::Tree, None) => format!("cp -rT \"$source\" {to}"),
            (Way::Copy, Some(from)) => format!("cp -r {} {to}", single_quoted(from)),
            (Way::Copy, None) => format!("cp -r \"$source\"/* {to}"),
        }
    }
}

/// What code puts somewhere, as far as the places stand there.
pub(in crate::rules) fn placed(code: &str) -> Vec<Placed> {
    let mut out: Vec<Placed> = Vec::new();
    let sought = Sought::new(code.to_owned());
    let lists = [(COPIES, Way::Copy), (TREES, Way::Tree), (UNPACKS, Way::Unpack), (PACKS, Way::Pack)];
    for (call, way) in lists.into_iter().flat_map(|(list, way)| list.iter().map(move |call| (call, way))) {
        // Of a set there is the same.
        if !sought.has(call) || *call == ".add(" && !code.contains("tarfile") {
            continue;
        }
        for (at, _) in code.match_indices(call).take(MAX_CALLS) {
            let before = code.get(..at).and_then(|front| front.chars().next_back());
            let own = !call.contains('.');
            if own && before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let given = arguments(code.get(at + call.len()..).unwrap_or_default());
            let strings = scripts::strings(given);
            let Some((to, front)) =
                strings.split_last().filter(|_| !matches!(way, Way::Copy | Way::Tree) || given.contains(','))
            else {
                continue;
            };
            let from = front.first().filter(|_| given.trim_start().starts_with(['\'', '"'])).cloned();
            let ends = given.trim_end_matches([',', ')', ' ', '\n']).ends_with(['\'', '"', '}'])
                || given.contains('=');
            let placed = Placed { from, to: to.clone(), way };
            if ends && out.len() < MAX_CALLS && !out.contains(&placed) {
                out.push(placed);
            }
        }
    }
    out
}

/// What stands in front of the bracket that ends a call.
fn arguments(text: &str) -> &str {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return text.get(..at).unwrap_or_default(),
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_where() {
        for (code, commands) in [
            ("shutil.copy('a', '/h')", &["cp -r 'a' '/h/'"][..]),
            ("[shutil.copy(f, '/h') for f in glob.glob('k/*')]", &["cp -r \"$source\"/* '/h/'"]),
            (
                "shutil.copytree('k', '/h/.ssh', dirs_exist_ok=True)",
                &["cp -rT 'k' '/h/.ssh' && cp -r 'k' '/h/.ssh'/"],
            ),
            ("tarfile.open('k.tar').extractall('/h')", &["tar xf \"$archive\" -C '/h/'"]),
            ("shutil.unpack_archive('k.zip', '/h')", &["tar xf \"$archive\" -C '/h/'"]),
            ("fs.cpSync('a', '/h' + '/b')", &["cp -rT 'a' '/h/b' && cp -r 'a' '/h/b'/"]),
            ("shutil.copy(a, b)", &[]),
            ("list.copy()", &[]),
            ("mycopy('a', '/h')", &[]),
        ] {
            let said: Vec<String> = placed(code).iter().map(Placed::command).collect();
            assert_eq!(said, commands, "{code}");
        }
    }
}

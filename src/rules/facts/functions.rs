//! What functions of the languages' own libraries do, and what they give back.

words!("facts/functions");

/// What a function does with its arguments; the numbers are their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Does {
    /// Nothing to a file, a program or another machine; or what is accounted for elsewhere.
    Nothing,
    /// Has a shell run a text.
    Shell(usize),
    /// `subprocess.run` and its kin: a list of words, or a text, and options by name.
    Starts,
    /// A program, and its words behind it.
    Executes(usize),
    /// `spawn` of Node: a program, a list of words, a table of options.
    Spawns,
    /// Runs a text as code.
    Code(usize),
    /// Opens a file in the mode of its second argument.
    Opens,
    Writes(usize),
    Deletes(usize),
    DeletesTree(usize),
    /// From the first to the second.
    Moves,
    Copies,
    /// More than can be told.
    Anything,
}

/// What a function gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Gives {
    Nothing,
    /// Its first argument.
    Same,
    /// Its arguments as one path: an object of its own, or a text.
    Path,
    Joined,
    Home,
    Here,
    /// The variable of the environment that it names.
    Variable,
    /// The module that it names.
    Module,
    /// The member that it names of its first argument.
    Member,
}

/// Names that lead from any object to everything.
const LEADS_OUT: &[&str] =
    &["constructor", "mainModule", "binding", "_linkedBinding", "dlopen", "f_globals", "f_builtins"];

/// Whether a name may lead to what nothing in the code says.
pub(in crate::rules) fn leads_out(name: &str) -> bool {
    LEADS_OUT.contains(&name) || name.starts_with("__") && !PLAIN_DUNDERS.contains(&name)
}

/// The module and the function of a name; the ways to write the same one are one.
fn split(name: &str) -> (&str, &str) {
    let name = name.strip_prefix("builtins.").unwrap_or(name);
    let (module, function) = name.rsplit_once('.').unwrap_or(("", name));
    let module = one_name(module);
    (module, without_sync(module, function))
}

/// A module by one of its names.
fn one_name(module: &str) -> &str {
    match module {
        "fs.promises" | "fs/promises" | "fs-extra" | "graceful-fs" => "fs",
        "asyncio.subprocess" => "asyncio",
        other => other,
    }
}

/// `rmSync` and `rm` of Node do the same.
fn without_sync<'f>(module: &str, function: &'f str) -> &'f str {
    if module == "fs" { function.strip_suffix("Sync").unwrap_or(function) } else { function }
}

/// What a function does; none for one that no row knows.
pub(in crate::rules) fn does(name: &str) -> Option<Does> {
    let (module, function) = split(name);
    let mut listed = FUNCTIONS.iter().filter(|(owner, ..)| *owner == module);
    if let Some((_, does, _)) = listed.find(|(.., functions)| functions.contains(&function)) {
        return Some(*does);
    }
    let top = one_name(name.split('.').next().unwrap_or_default());
    if !POWERFUL.contains(&top) {
        return None;
    }
    let member = without_sync(top, name.split('.').nth(1).unwrap_or_default());
    let harmless = HARMLESS.iter().any(|(owner, members)| *owner == top && members.contains(&member));
    Some(if harmless { Does::Nothing } else { Does::Anything })
}

/// What a function gives back.
pub(in crate::rules) fn gives(name: &str) -> Gives {
    match name {
        "pathlib.Path" | "pathlib.PurePath" | "pathlib.PosixPath" => Gives::Path,
        "os.path.join" | "path.join" | "path.resolve" | "path.posix.join" | "posixpath.join" => Gives::Joined,
        "os.path.expanduser" | "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.fspath"
        | "str" | "list" | "tuple" | "String" | "os.path.expandvars" | "path.normalize"
        | "util.promisify" | "promisify" | "Array.from" | "String.raw" => Gives::Same,
        "pathlib.Path.home" | "os.homedir" => Gives::Home,
        "pathlib.Path.cwd" | "os.getcwd" | "process.cwd" => Gives::Here,
        "os.getenv" | "os.environ.get" | "process.env.get" | "Deno.env.get" => Gives::Variable,
        "require" | "__import__" | "importlib.import_module" | "import" => Gives::Module,
        "getattr" => Gives::Member,
        _ => Gives::Nothing,
    }
}

/// What a method does to the path that it is a method of.
pub(in crate::rules) fn does_to_path(name: &str) -> Option<Does> {
    Some(match name {
        "unlink" | "rmdir" => Does::Deletes(0),
        "rmtree" => Does::DeletesTree(0),
        "write_text" | "write_bytes" | "touch" | "chmod" | "lchmod" | "symlink_to" | "hardlink_to"
        | "link_to" => Does::Writes(0),
        "rename" => Does::Moves,
        _ => return None,
    })
}

/// Whether a function is known to do nothing, by its last name.
pub(in crate::rules) fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
}

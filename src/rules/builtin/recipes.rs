//! Files of rules of other build tools than the shell: their variables put in, and the commands in them. Nothing is judged here.

/// Most names of one file, and rounds in which they are put in.
const MAX_NAMES: usize = 128;
const ROUNDS: usize = 4;
/// Longest text.
const MAX_TEXT: usize = 64 * 1024;

words!("builtin/recipes");

/// Text of a makefile with the variables put in that the `whole` of it sets, as its shell gets it.
pub(super) fn expanded(text: &str, whole: &str) -> String {
    let names = assigned(whole);
    let mut out = text.replace("$$", "\u{1}");
    for automatic in AUTOMATIC {
        out = out.replace(automatic, "target");
    }
    for _ in 0..ROUNDS {
        let before = out.len();
        for (name, value) in names.iter().chain(&own()) {
            if out.len() + value.len() > MAX_TEXT {
                break;
            }
            out = out.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            if name.chars().count() == 1 {
                out = out.replace(&format!("${name}"), value);
            }
        }
        if out.len() == before && !names.iter().any(|(name, _)| out.contains(&format!("$({name})"))) {
            break;
        }
    }
    unnamed(&out).replace('\u{1}', "$")
}

/// The commands of the rules, with the names of what each makes and of what it is made.
pub(in crate::rules) fn of_targets(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut target, mut sources) = (String::new(), String::new());
    let names = assigned(text);
    for line in text.lines() {
        let whole = |part: &str| {
            names.iter().fold(part.to_owned(), |part, (name, value)| {
                part.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value)
            })
        };
        let recipe = line.strip_prefix('\t').map(str::to_owned).or_else(|| {
            let (made, rest) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
            let (of, recipe) = rest.split_once(';').unwrap_or((rest, ""));
            target = whole(made.trim());
            sources = whole(of.trim());
            (!recipe.is_empty()).then(|| recipe.to_owned())
        });
        let Some(recipe) = recipe.filter(|_| out.len() < MAX_NAMES) else { continue };
        let first = sources.split_whitespace().next().unwrap_or_default();
        let recipe = recipe.replace("$@", &target).replace("$<", first);
        let recipe = recipe.replace("$^", &sources).replace("$+", &sources).replace("$?", &sources);
        out.push(whole(recipe.trim_start_matches(['\t', '@', '-', '+', ' '])));
    }
    out
}

fn own() -> Vec<(String, String)> {
    KNOWN.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// `$(NAME)` of a name that is set elsewhere is the shell's `$NAME`.
fn unnamed(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("$(") {
        out.push_str(front);
        match behind.split_once(')') {
            Some((name, tail)) if is_name(name) => {
                out.push('$');
                out.push_str(name);
                rest = tail;
            }
            _ => {
                out.push_str("$(");
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The names that a makefile gives values, and these.
fn assigned(text: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut body: Option<(String, String)> = None;
    for line in text.lines() {
        if let Some((name, mut held)) = body.take() {
            if line.trim() == "endef" {
                out.push((name, held));
            } else {
                held.push_str(line);
                held.push_str("\n\t");
                body = Some((name, held));
            }
            continue;
        }
        if let Some(name) = line.strip_prefix("define ") {
            body = Some((name.trim_end_matches(['=', ' ', ':']).to_owned(), String::new()));
            continue;
        }
        if let Some((name, value)) = assignment(line) {
            out.push((name.to_owned(), value.to_owned()));
        }
        if out.len() >= MAX_NAMES {
            break;
        }
    }
    out
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").or_else(|| line.strip_prefix("override ")).unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+']).trim();
    let plain = name.strip_prefix('.').unwrap_or(name);
    (is_name(plain) && !line.starts_with('\t')).then(|| (name, value.trim()))
}

/// The command by which a makefile that names a shell of its own starts every line.
pub(super) fn shell_of(text: &str) -> Option<String> {
    let names = assigned(text);
    let value =
        |wanted: &str| names.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let (shell, flags) = (value("SHELL"), value(".SHELLFLAGS"));
    (shell.is_some() || flags.is_some())
        .then(|| format!("{} {} :", shell.unwrap_or("/bin/sh"), flags.unwrap_or("-c")))
}

/// The commands in a file of CMake's, and what it takes away itself.
pub(super) fn of_cmake(text: &str) -> Vec<String> {
    let text = text.replace("$ENV{HOME}", "~").replace('\n', " ");
    let up_to = |rest: &str| {
        let end = [
            "COMMAND ",
            "WORKING_DIRECTORY",
            "RESULT_VARIABLE",
            "OUTPUT_",
            "ERROR_",
            "COMMENT ",
            "VERBATIM",
            "DEPENDS ",
            ")",
        ];
        let at = end.iter().filter_map(|word| rest.find(word)).min().unwrap_or(rest.len());
        rest.get(..at).unwrap_or_default().trim().to_owned()
    };
    let run = text.split("COMMAND ").skip(1).map(up_to);
    let gone = ["file(REMOVE_RECURSE ", "file(REMOVE "].into_iter().flat_map(|call| text.split(call).skip(1));
    let gone = gone.map(|rest| format!("rm -rf {}", up_to(rest)));
    let built = |command: &String| !command.contains("${");
    run.chain(gone).filter(built).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_make() {
        for (text, expected) in [
            ("C=rm\nall:\n\t$(C) -rf x", "\trm -rf x"),
            ("C = rm\nD := ${C} -rf\nall:\n\t$D x", "\trm -rf x"),
            ("all:\n\t$(RM) $$HOME", "\trm -f $HOME"),
            ("all:\n\trm $(HOME)", "\trm ~"),
            ("all:\n\tcc -o $@ $<", "\tcc -o target target"),
            ("all:\n\trm -rf $(BUILD)", "\trm -rf $BUILD"),
            ("define c\nrm x\nendef\nall:\n\t$(c)", "\trm x"),
        ] {
            assert!(expanded(text, text).contains(expected), "{text}: {}", expanded(text, text));
        }
        assert_eq!(shell_of("SHELL=/bin/rm\n.SHELLFLAGS=-rf ~").as_deref(), Some("/bin/rm -rf ~ :"));
        assert_eq!(shell_of("all:\n\techo"), None);
    }

    #[test]
    fn commands_of_cmake() {
        assert_eq!(of_cmake("execute_process(COMMAND a b OUTPUT_VARIABLE c)"), ["a b"]);
        assert_eq!(of_cmake("file(REMOVE_RECURSE $ENV{HOME}/x)"), ["rm -rf ~/x"]);
        assert_eq!(of_cmake("file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/x)"), Vec::<String>::new());
    }
}

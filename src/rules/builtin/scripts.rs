//! What texts in other languages say, found by their tokens: sed's commands, awk's calls, strings that are put together, the home
//! directory by its many names. Nothing is parsed as a whole, and nothing is judged here.

use std::iter::Peekable;
use std::str::Chars;

/// One thing that a sed script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SedRun {
    /// The whole of a command line: `e command`.
    Command(String),
    /// Of a command line only a part is known: the replacement of `s///e`, nothing where it runs what it read.
    Part(String),
}

impl SedRun {
    pub fn text(&self) -> &str {
        match self {
            SedRun::Command(text) | SedRun::Part(text) => text,
        }
    }
}

/// What a sed script runs, as far as it can be read.
pub(super) fn sed_runs(script: &str) -> Vec<SedRun> {
    let mut found = Vec::new();
    // What cannot be read, sed does not run either.
    let _whole = sed_runs_into(script, &mut found);
    found
}

fn sed_runs_into(script: &str, found: &mut Vec<SedRun>) -> Option<()> {
    let mut rest = script.chars().peekable();
    while rest.peek().is_some() {
        skip(&mut rest, |c| c.is_whitespace() || matches!(c, ';' | '{' | '}' | '!'));
        address(&mut rest)?;
        match rest.next()? {
            's' => {
                let end = rest.next()?;
                until(&mut rest, end)?;
                let replacement = until(&mut rest, end)?;
                let flags = take_while(&mut rest, |c| c.is_ascii_alphanumeric());
                // What stands behind `w` is a file's name.
                if flags.split('w').next().is_some_and(|flags| flags.contains('e')) {
                    found.push(SedRun::Part(replacement));
                }
                if flags.contains('w') {
                    take_while(&mut rest, |c| c != '\n');
                }
            }
            'y' => {
                let end = rest.next()?;
                until(&mut rest, end)?;
                until(&mut rest, end)?;
            }
            'e' => {
                let text = take_while(&mut rest, |c| c != '\n').trim().to_owned();
                found.push(if text.is_empty() || text.starts_with([';', '}']) {
                    SedRun::Part(String::new())
                } else {
                    SedRun::Command(text)
                });
            }
            'a' | 'i' | 'c' | 'r' | 'R' | 'w' | 'W' | ':' | 'b' | 't' | 'T' | '#' => {
                take_while(&mut rest, |c| c != '\n');
            }
            _ => {}
        }
    }
    Some(())
}

/// The files that a sed script writes to: `w file`, `s/a/b/w file`.
pub(in crate::rules) fn sed_writes(script: &str) -> Vec<String> {
    let mut out = Vec::new();
    for command in script.split(['\n', ';', '{']) {
        let bare = command
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' '));
        let behind_address =
            bare.strip_prefix('/').and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest.trim_start());
        let plain =
            [Some(bare), behind_address].into_iter().flatten().find_map(|text| text.strip_prefix(['w', 'W']));
        let substituted = bare.strip_prefix('s').and_then(|rest| {
            let end = rest.chars().next().filter(char::is_ascii_punctuation)?;
            rest.get(1..)?.splitn(3, end).nth(2)?.split_once('w').map(|(_, file)| file)
        });
        let file = plain.filter(|rest| rest.starts_with(' ')).or(substituted).map(str::trim);
        out.extend(file.filter(|file| !file.is_empty()).map(str::to_owned));
    }
    out
}

/// The addresses in front of a command; none when one is never ended.
fn address(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    loop {
        match rest.peek() {
            Some('/') => {
                rest.next();
                until(rest, '/')?;
                skip(rest, |c| matches!(c, 'I' | 'M'));
            }
            Some('\\') => {
                rest.next();
                let end = rest.next()?;
                until(rest, end)?;
                skip(rest, |c| matches!(c, 'I' | 'M'));
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | '!' | ' ' | '\t') => {
                rest.next();
            }
            _ => return Some(()),
        }
    }
}

fn skip(rest: &mut Peekable<Chars<'_>>, is: impl Fn(char) -> bool) {
    while rest.next_if(|c| is(*c)).is_some() {}
}

fn take_while(rest: &mut Peekable<Chars<'_>>, is: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    while let Some(c) = rest.next_if(|c| is(*c)) {
        out.push(c);
    }
    out
}

/// What stands before the next `end`, which is taken too; none when there is none.
fn until(rest: &mut Peekable<Chars<'_>>, end: char) -> Option<String> {
    let mut out = String::new();
    loop {
        match rest.next()? {
            c if c == end => return Some(out),
            '\\' => {
                let next = rest.next()?;
                if next != end {
                    out.push('\\');
                }
                out.push(next);
            }
            c => out.push(c),
        }
    }
}

/// Whether an awk program hands what it reads to a shell, or runs a command that it puts together.
/// `from_here`: what it reads is the project's, so that a name of a file or a commit is no more than that.
pub(super) fn awk_runs_computed(program: &str, from_here: bool) -> bool {
    let called = program.match_indices("system(").any(|(at, call)| {
        let argument = program.get(at + call.len()..).unwrap_or_default().trim_start();
        !(is_one_string(argument) || from_here && only_looks(argument))
    });
    let piped = program.match_indices('|').any(|(at, _)| {
        let to = program.get(at + 1..).unwrap_or_default().trim_start_matches(['&', ' ', '\t']);
        let command = to.strip_prefix('"').and_then(|text| text.split('"').next()).unwrap_or_default();
        let first = command.split_whitespace().next().unwrap_or_default();
        matches!(first.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ksh"))
    });
    called || piped
}

/// Whether an awk program starts another: by name, or by a bar outside of its strings and patterns. One that cannot be read does.
pub(super) fn awk_starts(program: &str) -> bool {
    if ["system", "getline", "@"].iter().any(|way| program.contains(way)) {
        return true;
    }
    let mut rest = program.chars().peekable();
    let mut before = '{';
    while let Some(c) = rest.next() {
        let begins_pattern =
            c == '/' && !(before.is_alphanumeric() || matches!(before, '_' | ')' | ']' | '$' | '"'));
        match c {
            // `i++ / 2`, or a pattern behind a sign.
            '/' if matches!(before, '+' | '-') => return program.contains('|'),
            '"' | '/' if c == '"' || begins_pattern => {
                let mut set = false;
                loop {
                    match rest.next() {
                        Some('\\') => drop(rest.next()),
                        Some('[') if c == '/' => set = true,
                        Some(']') => set = false,
                        Some(end) if end == c && !set => break,
                        Some(_) => {}
                        None => return program.contains('|'),
                    }
                }
            }
            '#' => drop(rest.by_ref().find(|c| *c == '\n')),
            '|' if rest.peek() == Some(&'|') => drop(rest.next()),
            '|' => return true,
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    false
}

/// Whether an argument is one string and nothing else.
fn is_one_string(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('"') else { return false };
    let mut rest = rest.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                rest.next();
            }
            '"' => return rest.as_str().trim_start().starts_with([')', ',', ';']),
            _ => {}
        }
    }
    false
}

/// Whether an argument is a command that looks at what a field names: `"git show --stat " $1 " | tail -1"`.
fn only_looks(text: &str) -> bool {
    const BEHIND: &[&str] = &["tail", "head", "wc", "grep", "sort", "uniq", "cut"];
    let is_plain = |part: &str| {
        !part.contains([';', '&', '`', '$', '<', '>', '(', '\\', '\n'])
            && part
                .split('|')
                .skip(1)
                .all(|next| BEHIND.contains(&next.split_whitespace().next().unwrap_or_default()))
    };
    let Some((call, _)) = text.split_once(')') else { return false };
    let mut first = true;
    call.split('"').enumerate().all(|(at, part)| {
        // Every second piece stands between quotes.
        if at % 2 == 0 {
            return part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '$' | '_' | ' ' | '\t'));
        }
        let begins =
            !std::mem::take(&mut first) || LOOKS.iter().any(|look| part.trim_start().starts_with(look));
        begins && is_plain(part)
    }) && !first
        && call.trim_start().starts_with('"')
}

words!("builtin/scripts");

/// Code in which the home directory stands as a string, whatever it was written as.
pub(in crate::rules) fn with_home(code: &str, home: &str) -> String {
    let mut out = code.to_owned();
    // Each way holds one of these.
    if !["ome", "HOME", "UserProfile", "~", "os.sep"].iter().any(|part| code.contains(part)) {
        return out;
    }
    for way in HOME.iter().filter(|way| code.contains(**way)) {
        let path = if way.ends_with("sep") { "/" } else { home };
        // Inside a string: `"rm -rf #{Dir.home}"`.
        for (open, close) in [("#{", "}"), ("${", "}"), ("{", "}")] {
            out = out.replace(&format!("{open}{way}{close}"), path);
        }
        // Perl expands it inside a string as it stands.
        if way.starts_with('$') {
            out = out.replace(&format!("\"{way}"), &format!("\"{path}"));
        }
        out = out.replace(way, &format!("'{path}'"));
    }
    out
}

/// A string up to its quote, and what stands behind it.
pub(super) fn quoted(code: &str, quote: char) -> (String, &str) {
    string_up_to(code, |c| c == quote)
}

/// A string up to the sign that ends it, and what stands behind that.
pub(super) fn string_up_to(code: &str, ends: impl Fn(char) -> bool) -> (String, &str) {
    let mut text = String::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            c if ends(c) => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    (text, chars.as_str())
}

/// The strings in code; those that are put together with `+` or `.` are one.
pub(in crate::rules) fn strings(code: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joins = false;
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (between, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let glue = between.trim();
        let mut chars = tail.chars();
        let Some(quote) = chars.next() else { break };
        let (text, behind) = quoted(chars.as_str(), quote);
        match out.last_mut() {
            Some(last) if joins && matches!(glue, "+" | "." | "..") => last.push_str(&text),
            _ => out.push(text),
        }
        joins = true;
        rest = behind;
    }
    out
}

/// The texts in Perl's `qx(…)` and `q(…)` and Ruby's `%x(…)` and `%q(…)`, which may be run.
pub(super) fn run_quotes(code: &str) -> Vec<String> {
    // Perl's are words of their own.
    let apart = |at: usize| {
        let before = code.get(..at).and_then(|front| front.chars().next_back());
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '%'))
    };
    let marks = ["qx", "qq", "qw", "q", "%x", "%q", "%Q", "%w", "%("].iter().flat_map(|mark| {
        let perl = !mark.starts_with('%');
        // Of `%(` the bracket is the text's.
        let length = if *mark == "%(" { 1 } else { mark.len() };
        let places = code.match_indices(mark).filter(move |(at, _)| !perl || apart(*at));
        places.filter_map(move |(at, _)| code.get(at + length..))
    });
    let texts = marks.filter_map(|rest| {
        let open = rest.chars().next()?;
        let close = match open {
            '(' => ')',
            '{' => '}',
            '[' => ']',
            '<' => '>',
            '/' | '|' | '!' | '#' => open,
            _ => return None,
        };
        rest.get(1..)?.split(close).next().map(str::to_owned)
    });
    texts.collect()
}

/// The strings of code that name files which it writes.
pub(in crate::rules) fn written(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut before: Option<String> = None;
    let mut makes = false;
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (front, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mut chars = tail.chars();
        let Some(quote) = chars.next() else { break };
        let text: String = chars.by_ref().take_while(|c| *c != quote).collect();
        let glue = front.trim();
        let behind = chars.as_str().trim_start();
        let called = WRITERS.iter().any(|name| glue.ends_with(name));
        let method = [").write_", ").open('w", ").open(\"w", ").open('a", ").touch", ").chmod", ").rename"];
        if called || is_behind_mode(glue) || method.iter().any(|name| behind.starts_with(name)) {
            out.push(text.clone());
        }
        match &before {
            Some(_) if glue == "," && makes => out.push(text.clone()),
            // `open(file, 'w')`, and Perl's `open(F, '>', file)`.
            Some(file) if glue == "," && MODES.contains(&text.as_str()) => out.push(file.clone()),
            Some(mode) if glue == "," && mode.starts_with(['>', '+']) => out.push(text.clone()),
            // A name that is put together: the whole of it.
            Some(file) if glue == "+" && out.last() == Some(file) => {
                let whole = format!("{file}{text}");
                out.pop();
                out.push(whole);
            }
            _ => {}
        }
        // `printf "x" > "/etc/passwd"` of awk.
        if glue.ends_with('>') && text.starts_with('/') {
            out.push(text.clone());
        }
        makes = MAKERS.iter().any(|name| glue.ends_with(name));
        before = Some(text);
        rest = chars.as_str();
    }
    out
}

/// `FileUtils.chmod_R(0777, "/etc")`, and Perl's `chmod 0777, "/etc"`: the file stands behind its mode.
fn is_behind_mode(front: &str) -> bool {
    let call = front.strip_suffix(',').and_then(|front| front.rsplit_once(['(', ' ']));
    call.is_some_and(|(name, mode)| {
        !mode.is_empty()
            && mode.bytes().all(|byte| byte.is_ascii_digit() || byte == b'o')
            && ["chmod", "chmod_R", "lchmod"].iter().any(|call| name.trim_end().ends_with(call))
    })
}

/// Whether code calls a function of that name itself: neither a method of something nor a part of a longer name.
pub(super) fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).and_then(|front| front.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sed_runs() {
        for (script, expected) in [
            ("s/x/id/e", vec!["id"]),
            ("1e rm -rf /", vec!["rm -rf /"]),
            ("1e date\n2e rm -rf /", vec!["date", "rm -rf /"]),
            ("1e date\ns/x/id/e", vec!["date", "id"]),
            ("/a/,/b/s|x|y|ge", vec!["y"]),
            ("$!N;s/a/b/;e", vec![""]),
            ("\\#x#{s/a/ls/e}", vec!["ls"]),
            ("s/a/b/w e", vec![]),
            ("s/x/y/g", vec![]),
            ("/exec/d", vec![]),
            ("1,5p", vec![]),
            ("a hello e", vec![]),
            ("y/e/f/", vec![]),
            ("s/e/e/g;s/a/e/", vec![]),
            ("s/unfinished", vec![]),
        ] {
            let found = sed_runs(script);
            assert_eq!(found.iter().map(SedRun::text).collect::<Vec<_>>(), expected, "{script}");
        }
        for (script, expected) in [
            ("w y", Some("y")),
            ("/a/w y", Some("y")),
            ("s/a/b/w y", Some("y")),
            ("s/w/x/g", None),
            ("1p", None),
        ] {
            assert_eq!(sed_writes(script).first().map(String::as_str), expected, "{script}");
        }
    }

    #[test]
    fn what_awk_runs() {
        for program in
            ["{system($1)}", "{print | \"sh\"}", "{print |\"/bin/bash -s\"}", "{system(\"rm \" $1)}"]
        {
            assert!(awk_runs_computed(program, true), "{program}");
        }
        for program in
            ["{print | \"sort -u\"}", "BEGIN{system(\"ls\")}", "{print $1}", "/a|b/{print}", "$1 || $2"]
        {
            assert!(!awk_runs_computed(program, true), "{program}");
        }
    }

    #[test]
    fn strings_are_put_together() {
        assert_eq!(strings("f('rm ' + \"-rf\" + ' /', 'x')"), ["rm -rf /", "x"]);
        assert_eq!(strings(&with_home("'rm -rf ' + os.environ['HOME']", "/home/u")), ["rm -rf /home/u"]);
        assert_eq!(strings(&with_home("system \"rm -rf #{Dir.home}\"", "/home/u")), ["rm -rf /home/u"]);
    }

    #[test]
    fn files_that_code_writes() {
        for (code, expected) in [
            ("open('/etc/passwd','w').write('')", Some("/etc/passwd")),
            ("open(F,\">\",\"/etc/passwd\")", Some("/etc/passwd")),
            ("fs.writeFileSync('/etc/x','')", Some("/etc/x")),
            ("fs.appendFileSync('/home/u'+'/.bashrc','x')", Some("/home/u/.bashrc")),
            ("Path('/etc/x').write_text('')", Some("/etc/x")),
            ("File.write(\"/etc/x\", 1)", Some("/etc/x")),
            ("open('/dev/sda', 'rb+')", Some("/dev/sda")),
            ("open(F,\"+<\",\"/dev/sda\")", Some("/dev/sda")),
            ("shutil.copyfile('a', '/etc/x')", Some("/etc/x")),
            ("BEGIN{print \"x\" > \"/etc/x\"}", Some("/etc/x")),
            ("truncate \"/etc/x\", 0", Some("/etc/x")),
            ("shutil.copyfile('/etc/x', 'a')", Some("a")),
            ("open('/etc/hosts').read(); print('w')", None),
            ("open('/etc/hosts', 'r')", None),
        ] {
            assert_eq!(written(code).first().map(String::as_str), expected, "{code}");
        }
        assert_eq!(run_quotes("print qx(rm -rf /); %x{ls}"), ["rm -rf /", "ls"]);
    }

    #[test]
    fn methods_are_not_calls_of_a_function() {
        assert!(calls("exec(x)", "exec(") && calls("a;exec(x)", "exec("));
        assert!(!calls("re.exec(x)", "exec(") && !calls("my_exec(x)", "exec("));
    }
}

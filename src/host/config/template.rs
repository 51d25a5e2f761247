//! The configuration file that a person starts from: every key with its default, all commented out.

use super::key::Key;
use super::keys::KEYS;
use super::value::Kind;
use crate::domain::Policy;

const HEAD: &str = "\
# lazaret: configuration of this user. Every key is shown with its default; remove the `#` before what you change.
# Edit it with `lazaret config edit`: what loosens counts only once you accepted it (or afterwards with `lazaret config accept`).
# `lazaret config check` says what is wrong with it, `lazaret config show` what counts in the end and why.
# All keys are explained in docs/configuration.md.
";

/// A rule of one's own.
const RULE: &str = r#"# [[rules.custom]]
# id = "custom.deploy"
# verdict = "modify"
# severity = "high"
# reason = "deploys what nobody has looked at"
# instead = { advice = "open a pull request and let the pipeline deploy" }
# when = [{ command = { programs = ["fly", "flyctl"], subs = ["deploy"] } }]
# fires = ["fly deploy --remote-only"]
# silent = ["fly logs", "git commit -m 'fly deploy'"]
"#;

/// A pattern of one's own.
const PATTERN: &str = r#"# [[patterns.custom]]
# name = "red_tests"
# window = 20
# among = { tool = ["Bash"] }
# filter = { outcome = ["failed"], error = ["test result: FAILED"] }
# count = 6
# severity = "medium"
# text = "stop running the tests; read the first failure ({error}) and fix that one"
# fires = [["6x cargo test => failed: test result: FAILED"]]
# silent = [["5x cargo test => failed: test result: FAILED", "cargo test"]]
"#;

/// A program that is taught.
const PROGRAM: &str = r#"# [[programs]]
# names = ["acmectl"]
# options = ["--tenant", "--config:r", "--yes!"]
# does = "network"
# commands = [{ names = ["tenant purge", "db drop"], does = "destroys" }, { names = ["tenant list"], does = "reads" }]
"#;

/// The text of a new configuration file.
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    let mut section = "";
    for key in KEYS {
        let (before, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if before != section && !key.kind.is_tables() {
            text.push_str(&format!("\n[{before}]"));
            section = before;
        }
        text.push_str(&entry(key, name));
    }
    text
}

fn entry(key: &Key, name: &str) -> String {
    let about = format!("\n# {}\n# {}\n", key.effect, key.kind.describe());
    match key.kind {
        Kind::Limits => tables(key, &about, "# tool = \"Bash\"\n# calls = 30\n# window_seconds = 60\n"),
        Kind::Rules => format!("\n{}{RULE}", about.trim_start()),
        Kind::Patterns => format!("\n{}{PATTERN}", about.trim_start()),
        Kind::Interventions => tables(
            key,
            &about,
            "# pattern = \"scope_creep\"\n# text = \"{evidence}; ask before you leave the project\"\n# most = \"resource_throttling\"\n",
        ),
        Kind::Plugins => tables(
            key,
            &about,
            "# name = \"licence\"\n# kind = \"risk\"\n# program = \"/usr/local/lib/lazaret/licence\"\n\
             # sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n# tools = [\"Write\", \"Edit\"]\n",
        ),
        Kind::Programs => format!("\n{}{PROGRAM}", about.trim_start()),
        Kind::Exceptions => tables(
            key,
            &about,
            "# rule = \"git.clean\"\n# to = \"ask\"\n# repository = \"~/scratch\"\n# reason = \"holds nothing that is not pushed\"\n",
        ),
        _ => format!("{about}# {name} = {}\n", key.get(&Policy::default())),
    }
}

fn tables(key: &Key, about: &str, example: &str) -> String {
    format!("\n{}# [[{}]]\n{example}", about.trim_start(), key.name)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn uncommented(line: &str) -> &str {
        let code = line.strip_prefix("# ").filter(|rest| rest.contains(" = ") || rest.starts_with("[["));
        code.unwrap_or(line)
    }

    #[test]
    fn as_written_it_says_nothing_and_uncommented_the_defaults() {
        let text = template();
        let parsed = parse(text.as_bytes(), None, super::super::Checks::none());
        assert!(parsed.problems.is_empty() && parsed.entries.is_empty(), "{parsed:?}");
        let uncommented: String = text.lines().map(|line| format!("{}\n", uncommented(line))).collect();
        let parsed = parse(uncommented.as_bytes(), None, super::super::Checks::none());
        assert_eq!(parsed.problems, [], "{uncommented}");
        assert_eq!(parsed.entries.len(), KEYS.len());
        for entry in parsed.entries.iter().filter(|entry| !entry.key.kind.is_tables()) {
            assert_eq!(entry.value, entry.key.get(&Policy::default()), "{}", entry.key.name);
        }
    }
}

//! Statements of databases in a file that is written.

use super::DROPS;
use super::extract;
use super::judge::{self, Place};
use crate::domain::Verdict;
use crate::rules::builtin::is_secret_name;
use crate::rules::matcher::Scene;

/// Statements that leave the database: programs that it starts, files that it writes where a server shows them.
pub(super) fn statements(scene: &Scene<'_>, text: &str) -> Verdict {
    let lower = text.to_ascii_lowercase();
    let line = |line: &str| {
        let program = [" to program ", " from program ", "xp_cmdshell", "sys_exec(", "sys_eval("];
        let shown =
            line.contains("into outfile") || line.contains("into dumpfile") || line.contains("lo_export(");
        let runs = program.iter().any(|form| line.contains(form));
        let served =
            shown && ["<?", "/www/", "/html/", "/etc/", "plugin"].iter().any(|word| line.contains(word));
        !line.trim_start().starts_with("--") && (runs || served)
    };
    // Everything to whoever reaches the server from anywhere.
    let opened = lower.lines().any(|line| {
        line.trim_start().starts_with("grant all") && line.contains("*.*") && line.contains("'%'")
    });
    // A whole database that says itself that people live by it.
    let live = lower.split(';').any(|one| {
        let words = one.split_whitespace().filter(|word| !matches!(*word, "if" | "exists"));
        let mut words = words.skip_while(|word| *word != "drop").skip(1);
        matches!(words.next(), Some("database" | "schema"))
            && words.next().is_some_and(|name| {
                ["prod", "live"].iter().any(|word| name.trim_matches(['"', '`']).starts_with(word))
            })
    });
    let shells =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("\\!")).take(extract::MAX_COMMANDS);
    let shelled =
        shells.map(|command| judge::command(scene, command, Place::Script)).max().unwrap_or_default();
    if lower.lines().any(line) {
        Verdict::Block
    } else {
        shelled.max(if opened || live { Verdict::Modify } else { Verdict::Allow })
    }
}

fn names_drop(line: &str) -> bool {
    DROPS.iter().any(|place| line.contains(place))
}

/// A pipeline that sends its secrets or all its variables to a host that is not known.
pub(super) fn dumped(scene: &Scene<'_>, text: &str) -> Verdict {
    let sends = |line: &&str| {
        ["curl ", "wget ", "nc ", "http "].iter().any(|word| line.contains(word))
            && judge::foreign_host(scene, line)
    };
    let whole = |line: &str| {
        [
            "$(env)",
            "`env`",
            "env |",
            "env|",
            "printenv",
            "toJSON(secrets)",
            "toJson(secrets)",
            "set |",
            "export -p",
        ]
        .iter()
        .any(|form| line.contains(form))
    };
    let piped = |line: &str| {
        let data = ["-d", "--data", "-F", "--post-data", "?"].iter().any(|flag| line.contains(flag))
            || line.contains('|');
        let header = line.contains("Authorization")
            || line.contains("webhook") && !names_drop(line)
            || line.contains("-H ");
        let own = [
            "$(System.AccessToken)",
            "$CI_JOB_TOKEN",
            "$SYSTEM_ACCESSTOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        ];
        if own.iter().any(|name| line.contains(name)) && line.contains('|') && line.contains("base64") {
            return true;
        }
        line.contains("secrets.") && data && !header
    };
    // Keys of a cloud, or several secrets at once, go to nobody's interface.
    let keys = |line: &str| {
        let names = line.split('$').skip(1).map(|rest| {
            let rest = rest.trim_start_matches('{');
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        });
        let secret: Vec<&str> = names.filter(|name| is_secret_name(name)).collect();
        let interface = line.contains("/api/v4/") || line.contains("trigger/pipeline");
        secret.iter().any(|name| name.starts_with("AWS_SE")) || secret.len() > 1 && !interface
    };
    let found = text.lines().filter(sends).any(|line| whole(line) || piped(line) || keys(line));
    // All secrets in one variable, which a line sends away.
    let every =
        ["toJSON(secrets)", "toJson(secrets)", "tojson(secrets)"].iter().any(|form| text.contains(form));
    let dropped = text.lines().any(|line| {
        sends(&line)
            && names_drop(line)
            && (line.contains("-F")
                || line.contains("-d")
                || line.contains("-T")
                || line.contains("--data")
                || line.contains("--upload-file"))
    });
    let secret = || text.contains("secrets.") || text.to_ascii_lowercase().contains("token");
    match (found || every && text.lines().any(|line| sends(&line)) || dropped && secret(), every || dropped) {
        (true, _) => Verdict::Block,
        (false, true) => Verdict::Modify,
        (false, false) => Verdict::Allow,
    }
}

//! Files and settings that the machine lives by.

use super::{CHANGES, VITAL};
use crate::rules::Invocation;
use crate::rules::Stdin;
use crate::rules::builtin::named;
use crate::rules::matcher::{Found, Scene, has_flag, runs};
use crate::shell::Arg;

words!("builtin/machine/settings");

/// Every change of a file that the machine goes by; a name of this machine added to the list of hosts is only asked about.
/// The name of a copy that is kept beside a file, which nothing reads.
fn lies_beside(path: &str) -> bool {
    [".bak", ".orig", ".old", ".backup", ".save", "~"].iter().any(|end| path.ends_with(end))
}

fn vital_changed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene
        .effects()
        .enumerate()
        .find(|(index, (effect, _))| {
            CHANGES.contains(&effect.kind)
                && scene.may_be_at(*index)
                && scene.is_at(*index, effect, VITAL)
                && !lies_beside(effect.target.text())
        })
        .map(|(_, (effect, _))| &effect.target);
    let Some(target) = found else { return Found::No };
    let local = |text: &str| {
        text.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || ["127.", "::1", "#"].iter().any(|start| line.starts_with(start))
        })
    };
    let appends = scene.invocations().iter().any(|inv| {
        inv.program == "tee" && has_flag(inv, "-a")
            || inv.writes.iter().any(|(to, append)| *append && to == target)
    });
    let prints = scene.invocations().iter().filter(|inv| runs(inv, &["echo", "printf"]));
    let fed = scene.invocations().iter().filter_map(|inv| match &inv.stdin {
        Stdin::Text(text) if inv.program == "tee" => Some(text.text()),
        Stdin::Text(_) | Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => None,
    });
    let mut said = prints.flat_map(|inv| inv.operands.iter().map(Arg::text)).chain(fed).peekable();
    if target.text() == "/etc/hosts" && appends && said.peek().is_some() && said.all(|text| local(&text)) {
        return Found::No;
    }
    let named =
        scene.invocations().iter().find(|inv| inv.text.contains("etc") || inv.text.contains("certificates"));
    Found::yes(named.map_or(target.text(), |inv| inv.text.as_str()))
}

/// Code of the call that opens such a file, or one of the accounts, for writing.
fn code_writes_vital<'a>(scene: &Scene<'a>) -> Found<'a> {
    /// Lines of code that is written into a command.
    const SHORT: usize = 5;
    let changes = |text: &str| {
        if !VITAL_FILES.iter().any(|file| text.contains(file)) {
            return false;
        }
        let bare: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        // Perl's and awk's way: the sign in front of the name.
        let signed = VITAL_FILES.iter().any(|file| {
            ["\">", "'>", "\">>", "'>>", ">\"", ">'", ">>\"", "|\"tee"]
                .iter()
                .any(|sign| bare.contains(&format!("{sign}{file}")))
        });
        let replaced = ["copy", "move", "rename", "symlink"].iter().any(|word| bare.contains(word))
            && [",'/usr/bin/", ",\"/usr/bin/", ",'/usr/sbin/", ",\"/usr/sbin/"]
                .iter()
                .any(|to| bare.contains(to));
        // A copy of such a file is made as a matter of course.
        let onto = bare.split("copyfile").skip(1).any(|rest| {
            let from = rest.trim_start_matches("sync").trim_start_matches(['(', '\'', '"']);
            !VITAL_FILES.iter().any(|file| from.starts_with(file)) || rest.matches("/etc/").count() > 1
        });
        signed || replaced || onto || OPENED_TO_WRITE.iter().any(|word| bare.contains(word))
    };
    // A whole program reads one file and writes another: there, name and operation must stand in one line.
    scene.code_where(|codes, inv| {
        let whole = |text: &str| text.lines().count() <= SHORT;
        codes.iter().take(4).any(|text| {
            // Most code names nothing of the machine's.
            let named = VITAL_FILES.iter().any(|file| text.contains(file));
            let changed = named && if whole(text) { changes(text) } else { text.lines().any(changes) };
            changed && !named::only_as_text(&inv.program, text, VITAL_FILES)
        })
    })
}

fn connection_names(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        ["ipv4.dns", "ipv6.dns", "+ipv4.dns", "ipv4.gateway", "proxy."]
            .iter()
            .any(|key| text.starts_with(key))
    })
}

//! install.sh --system, in a mount namespace with an /etc of its own: what root registered for everybody closes the gate for an ordinary
//! user, who can change nothing of it. Needs to be root, because there have to be two users.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod programs;

use std::fs;
use std::path::Path;
use std::process::Command;

/// Inside the namespace: nothing of the machine's /etc, /usr/local/bin and /var/lib is written to.
const NAMESPACE: &str = r#"
set -eu
cd "$T"
mount -t tmpfs tmpfs "$T/mem"
for dir in etc lib; do mkdir -p mem/$dir mem/$dir-work; done
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/mem/etc,workdir=$T/mem/etc-work" /etc
mount -t overlay overlay -o "lowerdir=/var/lib,upperdir=$T/mem/lib,workdir=$T/mem/lib-work" /var/lib
mount -t tmpfs tmpfs /usr/local/bin
chmod 755 /usr/local/bin
mount -t tmpfs tmpfs /run
echo "somebody:x:4711:4711::$T/home:/bin/sh" >> /etc/passwd
as_user() { setpriv --reuid=4711 --regid=4711 --clear-groups env -i HOME="$T/home" PATH="$T/bin:$NODE:/usr/local/bin:/usr/bin:/bin" "$@"; }
part() { echo "== $1"; }

part install
# As on a machine where root's files are closed to others unless they are opened.
(umask 077 && "$T/archive/install.sh" --system)
part doctor
cd "$T/home/project"
as_user lazaret doctor && echo "doctor: $?" || echo "doctor: $?"
part hook
command=$("$NODE/node" -p 'JSON.parse(require("fs").readFileSync("/etc/claude-code/managed-settings.json")).hooks.PreToolUse[0].hooks[0].command')
for call in 'rm -rf /' ls; do
    printf '{"session_id":"s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"},"tool_use_id":"t"}' "$PWD" "$call" \
        | as_user sh -c "$command" >"$T/mem/out" 2>&1 && echo "$call: 0" || echo "$call: $?"
done
part off
mkdir .claude
echo '{"disableAllHooks": true}' > .claude/settings.json
printf '{"session_id":"s","cwd":"%s","hook_event_name":"ConfigChange","source":"project_settings"}' "$PWD" \
    | as_user sh -c "$command" >"$T/mem/out" 2>&1 && echo "change: 0" || echo "change: $?"
part attacks
for attack in \
    "echo {} > /etc/claude-code/managed-settings.json" \
    "rm -f /etc/claude-code/managed-settings.json" \
    "mv /etc/claude-code /etc/old" \
    "echo {} > /etc/opencode/opencode.json" \
    "rm -f /etc/opencode/lazaret.js" \
    "cp /bin/true /usr/local/bin/lazaret" \
    "mv /usr/local/bin/lazaret /usr/local/bin/gone" \
    "chmod -x /usr/local/bin/lazaret" \
    "echo '[reviewer]' > /etc/lazaret/config.toml" \
    "rm -rf /etc/lazaret" \
    "lazaret uninstall --scope system" \
    "lazaret install claude-code --scope system"; do
    as_user sh -c "$attack" >"$T/mem/out" 2>&1 && echo "DONE $attack" || echo "refused $attack"
done
part uninstall
lazaret uninstall --scope system
find /etc/claude-code /etc/opencode -type f 2>/dev/null || true
"#;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_root_installs_for_everybody_no_user_can_change() {
    if !is_root() {
        eprintln!("not tested: a system installation (two users can only be had as root)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    for sub in ["home/project", "bin", "archive", "mem"] {
        fs::create_dir_all(top.join(sub)).unwrap();
    }
    programs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh"), top.join("archive/install.sh"));
    programs::copy(env!("CARGO_BIN_EXE_lazaret"), top.join("archive/lazaret"));
    programs::copy(env!("CARGO_BIN_EXE_lazaret-view"), top.join("archive/lazaret-view"));
    programs::write(&top.join("bin/claude"), "#!/bin/sh\necho '2.1.329 (Claude Code)'\n");
    programs::write(&top.join("bin/opencode"), "#!/bin/sh\necho 1.18.33\n");
    let owned = Command::new("chown").args(["-R", "4711:4711"]).arg(top.join("home")).status().unwrap();
    assert!(owned.success());
    assert!(Command::new("chmod").arg("755").arg(top).status().unwrap().success());
    let said = run(top);
    let part = |name: &str| {
        let after =
            said.split(&format!("== {name}\n")).nth(1).unwrap_or_else(|| panic!("no {name}:\n{said}"));
        after.split("\n== ").next().unwrap().to_owned()
    };
    assert!(part("install").contains("created    /etc/lazaret/config.toml"), "{said}");
    let doctor = part("doctor");
    for client in ["claude-code", "opencode"] {
        assert!(doctor.contains(&format!("{client}: tamper-proof")), "{said}");
    }
    assert!(doctor.contains("the gate is closed") && doctor.contains("doctor: 0"), "{said}");
    assert!(part("hook").contains("rm -rf /: 2") && part("hook").contains("ls: 0"), "{said}");
    assert!(part("off").contains("change: 0"), "no user's settings switch a managed hook off: {said}");
    let attacks = part("attacks");
    assert!(!attacks.contains("DONE") && attacks.matches("refused").count() == 12, "{said}");
    let left = part("uninstall");
    assert!(!left.contains("\n/etc/"), "something is left: {said}");
}

fn run(top: &Path) -> String {
    let node = std::env::var_os("PATH").unwrap();
    let node = std::env::split_paths(&node).find(|dir| dir.join("node").is_file()).expect("node is on PATH");
    let out = Command::new("unshare")
        .args(["-m", "sh", "-c", NAMESPACE])
        .env("T", top)
        .env("NODE", node)
        .env_remove("LAZARET_HOME")
        .output()
        .expect("unshare (util-linux) runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&out.stdout) + &text(&out.stderr);
    assert!(out.status.success(), "{said}");
    said
}

//! The classics, wrapped in every way that a shell knows: none gets through. (Their spellings stand in the corpus.)
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::domain::{Policy, Verdict};
use lazaret::rules::fixture;

/// The strictest verdict of the rules.
fn verdict(command: &str) -> Verdict {
    fixture::reasons(command, &Policy::default())
        .into_iter()
        .map(|reason| reason.verdict)
        .max()
        .unwrap_or_default()
}

const CLASSICS: &[&str] = &[
    "rm -rf /",
    "rm -rf ~",
    "rm -rf .git",
    "git reset --hard",
    "git clean -fdx",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sda1",
    "shutdown -h now",
    "rm -f .claude/settings.json",
    "cat /home/u/.ssh/id_rsa",
];

/// Ways to run a command; `@` is the command, which has no quotes in it.
const WRAPPERS: &[&str] = &[
    "@",
    "  @  ",
    "true && @",
    "false || @",
    "true; @",
    "@ &",
    "(@)",
    "{ @; }",
    "! @",
    "time @",
    "if true; then @; fi",
    "for i in 1; do @; done",
    "while true; do @; done",
    "case x in x) @;; esac",
    "f() { @; }; f",
    "echo $(@)",
    "echo `@`",
    "echo \"a $(@) b\"",
    "cat <(@)",
    "cat <<E\n$(@)\nE",
    "echo $(( $(@) + 1 ))",
    "sudo @",
    "sudo -u root @",
    "sudo -n -E @",
    "env @",
    "env X=1 @",
    "env -i PATH=/bin @",
    "X=1 @",
    "nice -n 5 @",
    "ionice -c 3 @",
    "timeout 10 @",
    "timeout -k 5 10s @",
    "nohup @ &",
    "setsid @",
    "stdbuf -oL @",
    "command @",
    "exec @",
    "builtin command @",
    "busybox @",
    "doas @",
    "xargs @ < /dev/null",
    "echo x | xargs -n1 @",
    "find . -maxdepth 0 -exec @ \\;",
    "bash -c '@'",
    "sh -c \"@\"",
    "bash -lc '@'",
    "bash -euo pipefail -c '@'",
    "/bin/sh -c '@'",
    "bash -c \"bash -c '@'\"",
    "sudo env X=1 bash -c \"@\"",
    "eval '@'",
    "eval @",
    "bash <<< '@'",
    "bash <<'E'\n@\nE",
    "echo '@' | sh",
    "echo '@' | bash -s",
    "printf '@\\n' | sh",
    "trap '@' EXIT",
    "su -c '@'",
    "flock /tmp/l @",
    "watch -n1 @",
    "parallel ::: '@'",
    "ssh localhost '@' ; @",
    "coproc @",
    "X='@'; eval \"$X\"",
    "X='@'; bash -c \"$X\"",
    "cd /tmp; cd /home/u/proj; @",
];

#[test]
fn every_classic_in_every_wrapper_is_blocked() {
    let mut wrong = Vec::new();
    for wrapper in WRAPPERS {
        for classic in CLASSICS {
            let command = wrapper.replace('@', classic);
            let verdict = verdict(&command);
            if verdict < Verdict::Block {
                wrong.push(format!("{verdict:?}: {command}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} got through:\n{}",
        wrong.len(),
        WRAPPERS.len() * CLASSICS.len(),
        wrong.join("\n")
    );
}

//! Whether a command may leave something that works on after its call has ended.

/// Whether a shell command may leave something that works on after its end.
pub fn lingers(command: &str) -> bool {
    const WORDS: [&str; 12] = [
        "nohup",
        "setsid",
        "disown",
        "batch",
        "crontab",
        "systemd-run",
        "tmux",
        "screen",
        "coproc",
        "daemonize",
        "at",
        "launchctl",
    ];
    let bytes = command.as_bytes();
    let is_beside = |at: usize| {
        let around = [at.checked_sub(1).and_then(|before| bytes.get(before)), bytes.get(at + 1)];
        !around.into_iter().flatten().any(|byte| matches!(byte, b'&' | b'>' | b'<'))
    };
    let apart = bytes.iter().enumerate().any(|(at, byte)| *byte == b'&' && is_beside(at));
    let separators = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    apart || command.split(separators).any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_on_is_told_from_what_ends() {
        for command in ["sleep 9 & ls", "nohup x", "a &", "(setsid b)", "echo x | at now", "tmux new -d 'x'"]
        {
            assert!(lingers(command), "{command}");
        }
        for command in ["a && b", "make 2>&1", "x &> log", "cat <&3", "grep 'cat' a", "ls -at"] {
            assert!(!lingers(command), "{command}");
        }
    }
}

//! What a command costs as it grows: instructions per byte of the whole decision, for hostile shapes from 1 KB to 8 MB. Prints the
//! table of docs/performance.md. Run: `cargo run --release --example linear [BINARY] [SHAPE]`; needs valgrind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a measurement run by hand, and a table of shapes"
)]

use std::path::Path;
use std::process::Command;

const SIZES: [(&str, usize); 5] =
    [("1 KB", 1_000), ("10 KB", 10_000), ("100 KB", 100_000), ("1 MB", 1_000_000), ("8 MB", 8_000_000)];

/// `front`, as many `unit`s as fit, `back`. In a unit, `#` is its number and `@` the next one.
struct Shape {
    name: &'static str,
    front: &'static str,
    unit: &'static str,
    back: &'static str,
    /// Closes what each unit opens.
    close: &'static str,
}

const fn flat(name: &'static str, front: &'static str, unit: &'static str, back: &'static str) -> Shape {
    Shape { name, front, unit, back, close: "" }
}

const fn nested(name: &'static str, front: &'static str, unit: &'static str, close: &'static str) -> Shape {
    Shape { name, front, unit, back: "a", close }
}

const SHAPES: [Shape; 32] = [
    nested("subshells in subshells", "", "(", ")"),
    nested("groups in groups", "", "{ ", "; }"),
    nested("substitutions in substitutions", "echo ", "$(a ", ")"),
    nested("defaults in defaults", "echo ", "${x:-", "}"),
    nested("brackets of arithmetic", "echo $((", "(", ")"),
    flat("arithmetic opened", "", "$((((", ""),
    flat("a long word", "ls ", "a", ""),
    flat("many words", "ls ", "a ", ""),
    flat("a pipeline", "", "a|", "a"),
    flat("redirections", "ls ", ">a# ", ""),
    flat("a quote left open", "echo '", "a", ""),
    flat("here-documents", "", "cat <<E\nx\nE\n", ""),
    flat("brace expansion", "echo ", "{a,b}", ""),
    flat("sequences", "echo ", "{1..1000} ", ""),
    flat("assignments", "", "a#=b;", ""),
    flat("variables that double", "a0=xx;", "a@=$a#$a#;", "echo $a9"),
    flat("functions", "", "f#(){ ls; };", ""),
    flat("functions that call twice", "f0(){ ls; };", "f@(){ f#; f#; };", "f20"),
    flat("eval of eval", "", "eval ", "ls"),
    flat("aliases of aliases", "alias a0=ls;", "alias a@=a#;", "a9"),
    flat("cd", "", "cd a;", "rm -rf *"),
    flat("patterns of a case", "case x in ", "a|", "a) ls;; esac"),
    flat("backslashes", "echo ", "\\\\", ""),
    flat("letters of four bytes", "echo ", "\u{1f600}", ""),
    flat("comments", "", "# a\n", "ls"),
    flat("elements of an array", "x=(", "a ", "); rm \"${x[@]}\""),
    flat("decoders", "echo bHM=|", "base64 -d|", "sh"),
    flat("xargs", "echo ", "a ", "| xargs rm"),
    flat("loops", "", "for i in a b c; do echo $i; done;", ""),
    flat("links to links", "", "ln -s a# a@;", "rm -rf a9/x"),
    flat("open brackets", "ls ", "[", ""),
    flat("code of python", "python3 -c '", "print(1);", "'"),
];

fn command(shape: &Shape, size: usize) -> String {
    let mut text = shape.front.to_owned();
    let mut closing = 0;
    while text.len() + closing * shape.close.len() + shape.back.len() < size {
        let unit = shape.unit.replace('@', &(closing + 1).to_string()).replace('#', &closing.to_string());
        // A comment's sign is no number.
        text.push_str(if shape.unit.starts_with('#') { shape.unit } else { &unit });
        closing += 1;
    }
    text.push_str(shape.back);
    text.push_str(&shape.close.repeat(closing));
    text
}

/// Instructions of one decision, and the bound that ended it.
fn measure(binary: &Path, dir: &Path, command: &str) -> (u64, Option<String>) {
    let message = serde_json::json!({
        "session_id": "linear", "cwd": dir, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command},
    });
    let file = dir.join("message.json");
    std::fs::write(&file, message.to_string()).unwrap();
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(["check", "--json", "--event"])
        .arg(&file)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", dir)
        .env("LAZARET_HOME", dir)
        .output()
        .expect("valgrind runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("Collected :")).unwrap_or_else(|| panic!("{said}"));
    let count = line.rsplit(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("an answer");
    let reasons = answer.get("reasons").and_then(serde_json::Value::as_array).cloned().unwrap_or_default();
    let bound = reasons.iter().find(|reason| reason["rule"] == "shell.bound");
    let text = bound.and_then(|reason| reason["message"].as_str()).map(|text| {
        text.rsplit_once(": ").map_or(text, |(_, what)| what).trim_start_matches("the command is ").to_owned()
    });
    (count, text)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let binary = args.next().unwrap_or_else(|| "target/x86_64-unknown-linux-musl/release/lazaret".to_owned());
    let only = args.next();
    let dir = std::env::temp_dir().join(format!("lazaret-linear-{}", std::process::id()));
    std::fs::create_dir_all(dir.join(".git")).unwrap();
    std::fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let (fixed, _) = measure(Path::new(&binary), &dir, "ls");
    println!("instructions per byte, without the {fixed} of `ls`; a bound where one ended it\n");
    println!("| shape | {} |", SIZES.map(|(name, _)| name).join(" | "));
    println!("|---|{}", "---|".repeat(SIZES.len()));
    for shape in
        SHAPES.iter().filter(|shape| only.as_ref().is_none_or(|only| shape.name.contains(only.as_str())))
    {
        let cells = SIZES.map(|(_, size)| {
            let text = command(shape, size);
            let (count, bound) = measure(Path::new(&binary), &dir, &text);
            let per_byte = count.saturating_sub(fixed) / text.len() as u64;
            bound.map_or_else(|| per_byte.to_string(), |bound| format!("{per_byte} ({bound})"))
        });
        println!("| {} | {} |", shape.name, cells.join(" | "));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

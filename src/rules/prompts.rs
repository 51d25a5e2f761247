//! Skills, commands and agents of clients: what of their text a client runs or obeys. All else in them is prose.

/// The shell lines of a prompt: `` !`…` `` and blocks that begin with ```` ```! ````. `apart`: only where a blank or nothing stands in
/// front, as Claude Code reads them (2.1.329); OpenCode takes them anywhere (1.18.33).
pub fn shell_lines(text: &str, apart: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("!`") {
        let front = rest.get(..at).and_then(|front| front.chars().next_back());
        rest = rest.get(at + 2..).unwrap_or_default();
        if apart && front.is_some_and(|c| !c.is_whitespace() && c != '\u{feff}') {
            continue;
        }
        let Some(end) = rest.find('`') else { break };
        lines.push(rest.get(..end).unwrap_or_default().trim());
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    let mut rest = text;
    while let Some(at) = rest.find("```!") {
        rest = rest.get(at + 4..).unwrap_or_default();
        let (block, after) = rest.split_once("```").unwrap_or((rest, ""));
        lines.push(block.trim());
        rest = after;
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The text between the first two lines of `---`.
pub fn front_matter(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = text.strip_prefix("---")?;
    let end = ["\n---", "\r---"].iter().filter_map(|mark| rest.find(mark)).min();
    Some(end.and_then(|end| rest.get(..end)).unwrap_or(rest))
}

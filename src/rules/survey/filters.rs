//! What filters make of a known text, where their scripts are plain enough.

use super::call::Call;
use crate::shell::Arg;

/// `sed s/a/b/` with nothing in it but plain text, on each line of what comes in.
pub(super) fn edited(call: &Call) -> Option<Arg> {
    let args: Option<Vec<&str>> = call.args().iter().map(Arg::known).collect();
    let script = match args?.as_slice() {
        [""] => return call.input.clone(),
        [script] | ["-e" | "-E" | "-r", script] => script.strip_prefix('s')?.to_owned(),
        _ => return None,
    };
    let mark = script.chars().next().filter(char::is_ascii_punctuation)?;
    let mut parts = script.get(1..)?.split(mark);
    let (Some(from), Some(to), Some(flags), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    // What stands at the beginning, or is all of the line.
    let whole = matches!(from, ".*" | "^.*$" | "^.*");
    let bare = from.strip_prefix('^').unwrap_or(from);
    let is_plain =
        |text: &str| !text.contains(['\\', '.', '*', '[', ']', '^', '$', '&', '+', '?', '(', '|', '{']);
    if !(whole || is_plain(bare) && !bare.is_empty()) || !is_plain(&to.replace(['.', '*', '$', '|', '('], ""))
    {
        return None;
    }
    let every = match flags {
        "" => false,
        "g" => true,
        _ => return None,
    };
    let line = |line: &str| match line.strip_prefix(bare).filter(|_| from.starts_with('^') && !whole) {
        _ if whole => to.to_owned(),
        Some(rest) => format!("{to}{rest}"),
        None if from.starts_with('^') => line.to_owned(),
        None if every => line.replace(bare, to),
        None => line.replacen(bare, to, 1),
    };
    let lines: Vec<String> = call.input.as_ref()?.known()?.lines().map(line).collect();
    Some(Arg::literal(&lines.join("\n")))
}

/// `cut -c2-5`, `cut -d, -f2`: of each line of what comes in.
pub(super) fn pieces(call: &Call) -> Option<Arg> {
    let args: Option<Vec<&str>> = call.args().iter().map(Arg::known).collect();
    let args = args?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let number = |part: &str, empty: usize| if part.is_empty() { Some(empty) } else { part.parse().ok() };
        Some((number(from, 1)?, number(to, usize::MAX)?))
    };
    let picked = |at: usize, (from, to): (usize, usize)| (from..=to).contains(&(at + 1));
    let letters = match args.as_slice() {
        ["-c", list] => Some(*list),
        [one] => one.strip_prefix("-c"),
        _ => None,
    };
    let fields = match args.as_slice() {
        ["-d", mark, "-f", list] => Some((*mark, *list)),
        ["-d", mark, list] => list.strip_prefix("-f").map(|list| (*mark, list)),
        [mark, "-f", list] => mark.strip_prefix("-d").map(|mark| (mark, *list)),
        [mark, list] => mark.strip_prefix("-d").zip(list.strip_prefix("-f")),
        _ => None,
    };
    let by_line: Box<dyn Fn(&str) -> String> = match (letters, fields) {
        (Some(list), _) => {
            let list = range(list)?;
            Box::new(move |line| {
                line.chars().enumerate().filter(|(at, _)| picked(*at, list)).map(|(_, c)| c).collect()
            })
        }
        (None, Some((mark, list))) => {
            let list = range(list)?;
            (mark.chars().count() == 1).then_some(())?;
            Box::new(move |line| {
                // A line without the mark is left as it is.
                let all = !line.contains(mark);
                let fields = line.split(mark).enumerate().filter(|(at, _)| all || picked(*at, list));
                fields.map(|(_, field)| field).collect::<Vec<_>>().join(mark)
            })
        }
        (None, None) => return None,
    };
    let lines: Vec<String> = call.input.as_ref()?.known()?.lines().map(by_line).collect();
    Some(Arg::literal(&lines.join("\n")))
}

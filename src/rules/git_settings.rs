//! The text of git's settings files, as git-config(1) gives the syntax.

/// Most settings that are looked at.
const MAX: usize = 4096;

/// The settings in a text: the key with its section and variable in small letters (`alias.st`, `filter.Name.clean`), and the value
/// without quotes and comments. None where git itself would refuse the text, or there are too many.
pub fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '#' | ';' => rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default(),
            '[' => {
                let after;
                (section, after) = heading(rest)?;
                after
            }
            _ => {
                let end = rest.find(['=', '\n', '#', ';']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                let (value, after) = match after.strip_prefix('=') {
                    Some(after) => read_value(after),
                    // A name alone is switched on.
                    None => ("true".to_owned(), after),
                };
                let name = name.trim();
                if name.is_empty() || section.is_empty() || found.len() >= MAX {
                    return None;
                }
                found.push((format!("{section}.{}", name.to_ascii_lowercase()), value));
                after
            }
        }
        .trim_start();
    }
    Some(found)
}

/// `[section "Name"]`, and what is behind it.
fn heading(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('[')?;
    let Some(quote) =
        inner.find('"').filter(|quote| !inner.get(..*quote).unwrap_or_default().contains([']', '\n']))
    else {
        let (name, after) = inner.split_once(']')?;
        return (!name.contains('\n')).then(|| (name.trim().to_ascii_lowercase(), after));
    };
    let mut name = inner.get(..quote)?.trim().to_ascii_lowercase();
    name.push('.');
    let mut chars = inner.get(quote + 1..)?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '"' => {
                let after = inner.get(quote + 1 + at + 1..)?;
                return Some((name, after.trim_start().strip_prefix(']')?));
            }
            '\n' => return None,
            _ => name.push(c),
        }
    }
    None
}

/// A value up to the end of its line, and what is behind it.
fn read_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    // Blanks at the end that no quotes hold do not count.
    let mut kept = 0;
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' if !quoted => {
                value.truncate(kept);
                return (value, text.get(at..).unwrap_or_default());
            }
            '#' | ';' if !quoted => {
                value.truncate(kept);
                let rest = text.get(at..).unwrap_or_default();
                return (value, rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default());
            }
            '"' => quoted = !quoted,
            '\\' => {
                match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, '\n')) | None => {}
                    Some((_, other)) => value.push(other),
                }
                kept = value.len();
            }
            c if c.is_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
            }
            c => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn read(text: &str) -> Vec<String> {
        entries(text).unwrap().into_iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        assert_eq!(
            read("[alias]\n\tst = status\n\tZap = !rm -rf ~ # why\n"),
            ["alias.st=status", "alias.zap=!rm -rf ~"]
        );
        assert_eq!(read("[ALIAS] x = \"!a; b\" ; c\n"), ["alias.x=!a; b"]);
        assert_eq!(read("[filter \"Big \\\"One\"] clean = a \\\n b\n"), ["filter.Big \"One.clean=a  b"]);
        assert_eq!(read("# c\n; d\n[core]\nbare # e\n"), ["core.bare=true"]);
        assert_eq!(read("\u{feff}[a]\r\nb = \"c d \" \r\n"), ["a.b=c d "]);
        assert_eq!(read("[a]\nb = x\\ty\\\\z\n"), ["a.b=x\ty\\z"]);
        assert_eq!(read(""), [""; 0]);
        for refused in ["[unclosed \"x\nb=1", "[broken\nx=1\n", "x=1\n", "[a]\n=1\n"] {
            assert_eq!(entries(refused), None, "{refused:?}");
        }
    }
}

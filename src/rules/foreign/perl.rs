//! Code in Perl that puts one text in the place of another, and does nothing else: `s/old/new/g`.

/// Whether a script is made of substitutions and transliterations only, in whose texts no code stands.
pub(crate) fn only_substitutes(script: &str) -> bool {
    let mut rest = script.trim_start_matches(is_between);
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some(behind) = substitution(rest) else { return false };
        if !behind.is_empty() && !behind.starts_with(is_between) {
            return false;
        }
        rest = behind.trim_start_matches(is_between);
    }
    true
}

fn is_between(c: char) -> bool {
    c == ';' || c.is_whitespace()
}

/// What stands behind the first substitution.
fn substitution(text: &str) -> Option<&str> {
    let rest = ["tr", "s", "y"].iter().find_map(|word| text.strip_prefix(word))?;
    let open = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '_')?;
    let (pattern, rest) = part(rest.get(1..)?, open)?;
    let (new, rest) = match closing(open) {
        // `s{old}{new}`
        Some(_) => {
            let rest = rest.trim_start();
            let open = rest.chars().next().filter(|open| closing(*open).is_some())?;
            part(rest.get(1..)?, open)?
        }
        None => part(rest, open)?,
    };
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (flags, rest) = rest.split_at_checked(end)?;
    // `e` runs the new text; `(?{…})`, `@{[…]}`, `${\…}` and the place of an element run what stands in them.
    let runs = |text: &str| {
        ["(?{", "(??{", "@{", "${\\", "$("].iter().any(|code| text.contains(code)) || takes_element(text)
    };
    (!flags.contains('e') && !runs(pattern) && !runs(new)).then_some(rest)
}

/// Whether an element of a list or a table stands in a text: `$x[…]`, `$$x{…}`, `$x->[…]`.
fn takes_element(text: &str) -> bool {
    text.split(['$', '@']).skip(1).any(|rest| {
        let end = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
        end.len() < rest.len() && end.trim_start_matches("->").starts_with(['[', '{'])
    })
}

/// The bracket that closes another one.
fn closing(open: char) -> Option<char> {
    match open {
        '{' => Some('}'),
        '(' => Some(')'),
        '[' => Some(']'),
        '<' => Some('>'),
        _ => None,
    }
}

/// A text up to its delimiter, and what stands behind that.
fn part(text: &str, open: char) -> Option<(&str, &str)> {
    let close = closing(open).unwrap_or(open);
    let (mut depth, mut escaped) = (0usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == close && depth == 0 => return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?)),
            c if c == close => depth -= 1,
            c if c == open => depth += 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::only_substitutes;

    #[test]
    fn substitutions_are_told_from_code() {
        for script in [
            "s/a/b/",
            "s/a\\/b/c/g; s|x|y|;\n",
            "s{import \\{ rm \\} from \"fs\";}{import \\{ x, rm \\} from \"fs\";}s",
            "s/\\bfoo\\((.*?)\\)/bar($1)/gs",
            "tr/a-z/A-Z/",
            "s/rm -rf x/rm -rf y/g",
        ] {
            assert!(only_substitutes(script), "{script}");
        }
        for script in [
            "",
            "system('x')",
            "s/a/system('x')/e",
            "s/a/b/; unlink $ARGV",
            "s/a/b/ge",
            "s/(?{system 'x'})/b/",
            "s/a/@{[`x`]}/",
            "s/a/${\\ `x`}/",
            "s/a/$x[system('x')]/",
            "s/a/$$x->{`x`}/",
            "s/$x[`x`]/a/",
            "s/a/b",
            "say 1",
            "s/a/b/ if unlink 'x'",
            "sort { system 'x' } 1, 2",
        ] {
            assert!(!only_substitutes(script), "{script}");
        }
    }
}

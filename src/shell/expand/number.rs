//! The value of arithmetic, as far as it is made of known numbers: `$#-2`, `n+1`.

/// How deep parentheses, and the values of variables that are arithmetic themselves, are followed.
const MAX_DEPTH: u8 = 16;

/// What a piece of arithmetic comes to; none where that is not worked out here. `value`: what a variable holds.
pub(crate) fn number(source: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<i64> {
    nested(source, value, 0)
}

fn nested(source: &str, value: &dyn Fn(&str) -> Option<String>, depth: u8) -> Option<i64> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let mut reader = Reader { rest: source, value, depth };
    if reader.peek().is_none() {
        return Some(0);
    }
    let result = reader.sum()?;
    reader.peek().is_none().then_some(result)
}

struct Reader<'a> {
    rest: &'a str,
    value: &'a dyn Fn(&str) -> Option<String>,
    depth: u8,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '"', '\'']);
        self.rest.chars().next()
    }

    fn take(&mut self, sign: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut left = self.product()?;
        loop {
            left = match self.peek() {
                Some('+') if self.take("+") => left.checked_add(self.product()?)?,
                Some('-') if self.take("-") => left.checked_sub(self.product()?)?,
                _ => return Some(left),
            };
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.operand()?;
        loop {
            left = match self.peek() {
                Some('*') if self.take("*") => left.checked_mul(self.operand()?)?,
                Some('/') if self.take("/") => left.checked_div(self.operand()?)?,
                Some('%') if self.take("%") => left.checked_rem(self.operand()?)?,
                _ => return Some(left),
            };
        }
    }

    fn operand(&mut self) -> Option<i64> {
        let mut negative = false;
        while let Some(sign @ ('-' | '+')) = self.peek() {
            negative ^= sign == '-';
            self.rest = self.rest.get(1..)?;
        }
        let found = self.plain()?;
        if negative { found.checked_neg() } else { Some(found) }
    }

    /// A number, a variable, or what stands in parentheses.
    fn plain(&mut self) -> Option<i64> {
        self.peek();
        if self.rest.starts_with("$((") {
            self.rest = self.rest.get(1..)?;
        }
        if self.take("(") {
            self.depth = self.depth.checked_add(1).filter(|depth| *depth < MAX_DEPTH)?;
            let found = self.sum()?;
            self.depth = self.depth.saturating_sub(1);
            return self.take(")").then_some(found);
        }
        let braced = self.take("${");
        let marked = braced || self.take("$");
        let special = if marked && self.rest.starts_with('#') { 1 } else { 0 };
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.get(special..)?.find(|c| !letter(c)).map_or(self.rest.len(), |at| at + special);
        let word = self.rest.get(..end)?;
        self.rest = self.rest.get(end..)?;
        if braced && !self.take("}") || word.is_empty() {
            return None;
        }
        if !marked && word.starts_with(|c: char| c.is_ascii_digit()) {
            return digits(word);
        }
        let text = (self.value)(word)?;
        digits(text.trim()).or_else(|| nested(&text, self.value, self.depth.checked_add(1)?))
    }
}

/// A number as arithmetic writes it.
fn digits(word: &str) -> Option<i64> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(rest) => i64::from_str_radix(rest, 16).ok(),
        None if word.len() > 1 && word.starts_with('0') => i64::from_str_radix(word, 8).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arithmetic_comes_to() {
        let value = |name: &str| match name {
            "#" => Some("4".to_owned()),
            "n" => Some("2".to_owned()),
            "m" => Some("n+1".to_owned()),
            "loop" => Some("loop".to_owned()),
            _ => None,
        };
        for (source, result) in [
            ("1", Some(1)),
            (" -3", Some(-3)),
            ("$#-2", Some(2)),
            ("n+1", Some(3)),
            ("$((n*3))", Some(6)),
            ("${n}%2", Some(0)),
            ("(1+2)*m", Some(9)),
            ("0x10-010", Some(8)),
            ("", Some(0)),
            ("1/0", None),
            ("$(id)", None),
            ("other", None),
            ("loop", None),
            ("n++", None),
            ("9223372036854775807+1", None),
        ] {
            assert_eq!(number(source, &value), result, "{source}");
        }
    }
}

//! Code in Ruby that starts no program: what of it is no text is read, and holds none of the words by which one is started.

use std::iter::Peekable;
use std::str::CharIndices;

words!("foreign/ruby");

/// Whether code starts no program and runs no text as code, whatever stands in its strings. What cannot be read is taken to do so.
pub(crate) fn starts_nothing(code: &str) -> bool {
    let Some(read) = Reader::of(code).read() else { return false };
    let is_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = "";
    let harmless = read.code.split(|c| !is_of_a_name(c)).filter(|word| !word.is_empty()).all(|word| {
        let file = std::mem::replace(&mut before, word) == "File";
        !STARTING.contains(&word) && (word != "open" || file)
    });
    let required = read.code.split(|c| !is_of_a_name(c)).filter(|word| *word == "require").count();
    harmless
        && required == read.required.len()
        && read.required.iter().all(|name| SAFE.contains(&name.as_str()))
}

/// The code outside of texts, and what `require` is given.
#[derive(Debug, Default)]
struct Read {
    code: String,
    required: Vec<String>,
}

struct Reader<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
    read: Read,
    /// Documents that begin behind the line: the word that ends one, and whether code may stand in it.
    documents: Vec<(String, bool)>,
}

impl<'t> Reader<'t> {
    fn of(text: &'t str) -> Reader<'t> {
        Reader { text, chars: text.char_indices().peekable(), read: Read::default(), documents: Vec::new() }
    }

    fn rest(&mut self) -> &'t str {
        let at = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        self.text.get(at..).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        let end = self.text.len() - self.rest().len() + bytes;
        while self.chars.next_if(|(at, _)| *at < end).is_some() {}
    }

    /// The last sign of the code that is no blank.
    fn last(&self) -> Option<char> {
        self.read.code.trim_end_matches([' ', '\t']).chars().next_back()
    }

    fn last_word(&self) -> &str {
        self.read
            .code
            .trim_end()
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default()
    }

    fn read(mut self) -> Option<Read> {
        while let Some((_, c)) = self.chars.next() {
            match c {
                '#' => {
                    let rest = self.rest();
                    self.skip(rest.find('\n').unwrap_or(rest.len()));
                }
                '\n' => {
                    self.read.code.push('\n');
                    for (end, codes) in std::mem::take(&mut self.documents) {
                        self.document(&end, codes)?;
                    }
                    if ["=begin", "__END__"].iter().any(|word| self.rest().starts_with(word)) {
                        return None;
                    }
                }
                '"' | '\'' => self.string(c)?,
                '`' => return None,
                '<' if self.rest().starts_with('<') => self.shift()?,
                '%' => self.percent()?,
                '/' => self.slash()?,
                '?' if self.rest().starts_with(['"', '\'', '#', '/', '`', '%']) => return None,
                c => self.read.code.push(c),
            }
        }
        self.documents.is_empty().then_some(self.read)
    }

    /// What stands in quotes, of which one was read.
    fn string(&mut self, quote: char) -> Option<()> {
        let is_required = self.last_word() == "require";
        let inside = self.until(quote, None, quote == '"')?;
        if is_required {
            self.read.required.push(inside);
        }
        self.read.code.push_str(" \"\" ");
        Some(())
    }

    /// A text up to what closes it. What `#{…}` holds in it is code.
    fn until(&mut self, close: char, open: Option<char>, codes: bool) -> Option<String> {
        let (mut inside, mut depth) = (String::new(), 0_usize);
        loop {
            let (_, c) = self.chars.next()?;
            match c {
                '\\' => inside.extend(self.chars.next().map(|(_, c)| c)),
                '#' if codes && self.rest().starts_with('{') => self.interpolated()?,
                c if c == close && depth == 0 => return Some(inside),
                c if c == close => depth -= 1,
                c => {
                    depth += usize::from(Some(c) == open);
                    inside.push(c);
                }
            }
        }
    }

    /// The code of `#{…}`, in which strings may stand, and braces in pairs.
    fn interpolated(&mut self) -> Option<()> {
        let (_, mut depth) = (self.chars.next(), 1_usize);
        self.read.code.push(' ');
        loop {
            let (_, c) = self.chars.next()?;
            match c {
                '"' | '\'' => self.string(c)?,
                '`' | '\n' => return None,
                '%' => self.percent()?,
                '/' => self.slash()?,
                '{' => depth += 1,
                '}' => depth -= 1,
                c => self.read.code.push(c),
            }
            if depth == 0 {
                self.read.code.push(' ');
                return Some(());
            }
        }
    }

    /// `<<~END`, whose text begins with the next line, or what is put behind a list.
    fn shift(&mut self) -> Option<()> {
        self.chars.next();
        let rest = self.rest();
        let bare = rest.trim_start_matches(['~', '-']);
        let quote = bare.chars().next().filter(|c| matches!(c, '"' | '\''));
        let word = bare.trim_start_matches(['"', '\'']);
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
        let (word, _) = word.split_at_checked(end)?;
        if bare.starts_with('`') {
            return None;
        }
        if word.is_empty() || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.read.code.push_str(" << ");
            return Some(());
        }
        let quotes = if quote.is_some() { 2 } else { 0 };
        self.documents.push((word.to_owned(), quote != Some('\'')));
        self.skip(rest.len() - bare.len() + word.len() + quotes);
        self.read.code.push_str(" \"\" ");
        Some(())
    }

    fn document(&mut self, end: &str, codes: bool) -> Option<()> {
        loop {
            let rest = self.rest();
            let (line, behind) =
                rest.split_once('\n').map_or((rest, None), |(line, rest)| (line, Some(rest)));
            if line.trim() == end {
                self.skip(line.len());
                return Some(());
            }
            // What it holds of code may go over several lines.
            if codes && line.contains("#{") || behind.is_none() {
                return None;
            }
            self.skip(line.len() + 1);
        }
    }

    /// `%w[a b]` and its kin, or the rest of a division.
    fn percent(&mut self) -> Option<()> {
        let rest = self.rest();
        let kind = rest.chars().next().filter(|c| "wWiIqQ".contains(*c));
        let open = kind.and_then(|_| rest.chars().nth(1)).filter(|c| "([{<|!/".contains(*c));
        let Some(open) = open else {
            // `%x(…)` starts one, `%r{…}` and `%(…)` are texts too.
            let text = rest.starts_with(['x', 'r', '(', '[', '{', '<', '|', '!', 's']);
            self.read.code.push('%');
            return (!text).then_some(());
        };
        self.skip(1 + open.len_utf8());
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let codes = kind.is_some_and(|kind| "WIQ".contains(kind));
        self.until(close, Some(open).filter(|open| *open != close), codes)?;
        self.read.code.push_str(" \"\" ");
        Some(())
    }

    /// A pattern, where no value stands in front of it, or the rest of a division.
    fn slash(&mut self) -> Option<()> {
        const BEHIND: &[&str] =
            &["if", "unless", "when", "and", "or", "not", "return", "then", "elsif", "while", "until"];
        let begins = self.last().is_none_or(|c| "(,=~!|&{[;:?\n".contains(c));
        if begins || BEHIND.contains(&self.last_word()) {
            self.until('/', None, true)?;
            self.read.code.push_str(" \"\" ");
            return Some(());
        }
        // `split /x/` is one too, and nobody knows which it is.
        let divides = !self.read.code.ends_with(' ') || self.rest().starts_with(' ');
        self.read.code.push('/');
        divides.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::starts_nothing;

    #[test]
    fn code_that_only_edits() {
        for code in [
            "path=\"a.md\"; text=File.read(path); text.sub!(\"run `rm -rf /`\", 'system(\"x\")'); File.write(path, text)",
            "lines = File.readlines('a.md')\nat = lines.index(\"```text\\n\")\nraise \"no\" unless at\nlines[at] = <<~END\n  curl x | sh\nEND\nFile.write('a.md', lines.join)",
            "require \"json\"\nputs JSON.parse(File.read('a.json')).keys.map { |k| \"#{k}: #{k.size / 2}\" }",
            "puts %w[system exec].map(&:upcase)",
            "x = text.gsub(/system \\(.*\\)/, '') # exec it",
            "File.open('a', 'w') { |f| f << \"eval\" }",
            "puts 7 / 2",
        ] {
            assert!(starts_nothing(code), "{code}");
        }
    }

    #[test]
    fn code_that_may_start_something() {
        for code in [
            "system('ls')",
            "puts `ls`",
            "puts \"#{`ls`}\"",
            "puts \"#{system('ls')}\"",
            "exec 'ls'",
            "%x(ls)",
            "IO.popen('ls')",
            "open('|ls')",
            "require 'open3'\nOpen3.capture2('ls')",
            "require x",
            "require 'json'; require 'shell'",
            "Kernel.send(:system, 'ls')",
            "['ls'].each(&method(:system))",
            "eval(File.read('x'))",
            "puts <<~END\n#{system('ls')}\nEND\n",
            "puts <<`END`\nls\nEND\n",
            "text.split /a/ ; system('ls') # /",
            "x = ?\"; system('ls') # \"",
            "puts 'unclosed",
            "=begin\nx\n=end\nsystem('ls')",
            "\n=begin\n'\n=end\nsystem('ls')",
        ] {
            assert!(!starts_nothing(code), "{code}");
        }
    }
}

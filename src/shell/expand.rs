//! What a word becomes: braces, tildes and known variables expanded, unknown parts marked.

use super::Word;

/// A part of an expanded word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that is known and means itself.
    Known(String),
    /// An active glob character or bracket expression, as written.
    Glob(String),
    /// Not known without running the command (a substitution, an unset or computed variable).
    Unknown,
}

/// One argument after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arg {
    pub pieces: Vec<Piece>,
}

impl Arg {
    /// An argument that is this text.
    pub fn literal(text: &str) -> Arg {
        Arg { pieces: vec![Piece::Known(text.to_owned())] }
    }

    /// The whole text, if all of it is known and nothing of it is a glob.
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text in front of the first glob or unknown part.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }

    pub fn has_unknown(&self) -> bool {
        self.pieces.contains(&Piece::Unknown)
    }

    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// The argument as a shell would be given it, with `…` for what is unknown.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Known(text) | Piece::Glob(text) => out.push_str(text),
                Piece::Unknown => out.push('…'),
            }
        }
        out
    }
}

/// The variables whose values are known while a command line is walked.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// Name and value; `None` = assigned, but not known.
    pub vars: Vec<(String, Option<String>)>,
    pub home: Option<String>,
    /// The working directory, where known (`$PWD`, `~+`).
    pub cwd: Option<String>,
}

impl Env {
    /// The value of a variable: `None` = never assigned here, `Some(None)` = assigned but unknown.
    pub fn get(&self, name: &str) -> Option<Option<&str>> {
        self.vars.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.as_deref())
    }

    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.vars.retain(|(n, _)| n != name);
        self.vars.push((name.to_owned(), value));
    }
}

/// Expands a word into the arguments that it becomes (none for an empty unquoted variable, several for braces or a
/// known variable that is split).
pub fn expand(_word: &Word, _env: &Env) -> Vec<Arg> {
    Vec::new()
}

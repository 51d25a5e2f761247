//! Secrets that are known by their shape alone.

use super::{Hit, SHORTENED, run, starts_with_ignoring_case, tail};

/// The bytes that the rest of a token is made of.
#[derive(Debug, Clone, Copy)]
enum Alphabet {
    Upper,
    Alphanumeric,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dashed,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Alphanumeric => byte.is_ascii_alphanumeric(),
            Alphabet::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Alphabet::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
        }
    }
}

/// Prefix, least length of the rest, its bytes, and the name of the kind. A longer prefix comes first.
type Shape = (&'static [u8], usize, Alphabet, &'static str);

/// Prefixes that words have as well (`sk-…`): what follows must hold both letters and digits.
const PLAIN: [&[u8]; 4] = [b"sk-", b"pypi-", b"hf_", b"SG."];

/// Shapes by the first byte of their prefix, so that an ordinary letter costs one look.
const fn shapes(first: u8) -> &'static [Shape] {
    match first {
        b'A' => &[
            (b"AKIA", 16, Alphabet::Upper, "aws-key"),
            (b"ASIA", 16, Alphabet::Upper, "aws-key"),
            (b"AIza", 35, Alphabet::Dashed, "google-key"),
        ],
        b'd' => &[(b"dop_v1_", 64, Alphabet::Alphanumeric, "digitalocean-token")],
        b'g' => &[
            (b"ghp_", 30, Alphabet::Alphanumeric, "github-token"),
            (b"gho_", 30, Alphabet::Alphanumeric, "github-token"),
            (b"ghu_", 30, Alphabet::Alphanumeric, "github-token"),
            (b"ghs_", 30, Alphabet::Alphanumeric, "github-token"),
            (b"ghr_", 30, Alphabet::Alphanumeric, "github-token"),
            (b"github_pat_", 30, Alphabet::Word, "github-token"),
            (b"glpat-", 20, Alphabet::Dashed, "gitlab-token"),
        ],
        b'h' => &[(b"hf_", 30, Alphabet::Alphanumeric, "huggingface-token")],
        b'n' => &[(b"npm_", 36, Alphabet::Alphanumeric, "npm-token")],
        b'p' => &[(b"pypi-", 50, Alphabet::Dashed, "pypi-token")],
        b'r' => &[(b"rk_live_", 16, Alphabet::Alphanumeric, "stripe-key")],
        b's' => &[
            (b"sk-ant-", 20, Alphabet::Dashed, "anthropic-key"),
            (b"sk-proj-", 20, Alphabet::Dashed, "openai-key"),
            (b"sk-svcacct-", 20, Alphabet::Dashed, "openai-key"),
            (b"sk-", 32, Alphabet::Alphanumeric, "openai-key"),
            (b"sk_live_", 16, Alphabet::Alphanumeric, "stripe-key"),
            (b"sk_test_", 16, Alphabet::Alphanumeric, "stripe-key"),
        ],
        b'S' => &[(b"SG.", 60, Alphabet::Dashed, "sendgrid-key")],
        b'x' => &[
            (b"xoxa-", 10, Alphabet::Dashed, "slack-token"),
            (b"xoxb-", 10, Alphabet::Dashed, "slack-token"),
            (b"xoxp-", 10, Alphabet::Dashed, "slack-token"),
            (b"xoxr-", 10, Alphabet::Dashed, "slack-token"),
            (b"xoxs-", 10, Alphabet::Dashed, "slack-token"),
            (b"xapp-", 10, Alphabet::Dashed, "slack-token"),
        ],
        b'y' => &[(b"ya29.", 20, Alphabet::Dashed, "google-token")],
        _ => &[],
    }
}

/// A token that starts at `at`, the start of a word.
pub(super) fn token(bytes: &[u8], at: usize) -> Option<Hit> {
    let rest = tail(bytes, at);
    match rest.first()? {
        b'e' => return jwt(bytes, at),
        b'b' | b'B' => return bearer(bytes, at),
        b'a' => return aws_secret(bytes, at),
        _ => {}
    }
    let shape = shapes(*rest.first()?).iter().find(|(prefix, ..)| rest.starts_with(prefix));
    let (prefix, least, alphabet, kind) = shape?;
    // `desk-sk-…` is a word with dashes; and only so is no run of bytes looked at twice.
    if matches!(alphabet, Alphabet::Dashed) && inside_dashes(bytes, at) {
        return None;
    }
    let start = at + prefix.len();
    let end = run(bytes, start, |byte| alphabet.has(byte));
    let end = end - trailing_dots(bytes, start, end);
    let found = tail(bytes, start).get(..end - start)?;
    let exact = match alphabet {
        Alphabet::Upper => found.len() == *least,
        Alphabet::Alphanumeric | Alphabet::Word | Alphabet::Dashed => found.len() >= *least,
    };
    let mixed = found.iter().any(u8::is_ascii_digit) && found.iter().any(u8::is_ascii_alphabetic);
    (exact && (mixed || !PLAIN.contains(prefix))).then_some(Hit { start: at, end, kind })
}

/// Whether a dash or a full stop joins what starts at `at` to something before it.
fn inside_dashes(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|byte| matches!(byte, b'-' | b'.'))
}

/// A full stop after a token belongs to the sentence.
fn trailing_dots(bytes: &[u8], start: usize, end: usize) -> usize {
    let found = tail(bytes, start).get(..end - start).unwrap_or_default();
    found.iter().rev().take_while(|byte| **byte == b'.').count()
}

/// `eyJ….eyJ….…`: three parts of base64, the first two of them JSON objects.
fn jwt(bytes: &[u8], at: usize) -> Option<Hit> {
    let part =
        |from: usize| run(bytes, from, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !tail(bytes, at).starts_with(b"eyJ") || inside_dashes(bytes, at) {
        return None;
    }
    let header = part(at);
    let payload = part(header + 1);
    if header - at < 10 || bytes.get(header) != Some(&b'.') || payload - header < 10 {
        return None;
    }
    let end = if bytes.get(payload) == Some(&b'.') { part(payload + 1) } else { return None };
    Some(Hit { start: at, end, kind: "jwt" })
}

/// `Bearer` and the token after it.
fn bearer(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts_with_ignoring_case(tail(bytes, at), b"bearer ") {
        return None;
    }
    let start = at + b"bearer ".len();
    let end = run(bytes, start, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-')
    });
    let digits = tail(bytes, start).iter().take(end - start).any(u8::is_ascii_digit);
    (end - start >= 16 && digits).then_some(Hit { start, end, kind: "bearer" })
}

/// `aws configure set aws_secret_access_key SECRET`: a name and a value with nothing between them.
fn aws_secret(bytes: &[u8], at: usize) -> Option<Hit> {
    const NAME: &[u8] = b"aws_secret_access_key ";
    let start = at + NAME.len();
    let end = run(bytes, start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    let known = tail(bytes, at).starts_with(NAME) && end - start >= 16;
    known.then_some(Hit { start, end, kind: "secret" })
}

/// What is left of a signature: enough to tell two of them apart, and too little to be one.
const KEPT: usize = 8;

/// The signature of a typed reference (`hmac=…`) behind its first digits, with the `=` at `at`.
pub(super) fn signature(bytes: &[u8], at: usize) -> Option<Hit> {
    const NAME: &[u8] = b"hmac";
    let named =
        at.checked_sub(NAME.len()).is_some_and(|from| starts_with_ignoring_case(tail(bytes, from), NAME));
    let end = run(bytes, at + 1, |byte| byte.is_ascii_hexdigit());
    let start = at + 1 + KEPT;
    (named && end > start).then_some(Hit { start, end, kind: SHORTENED })
}

/// A private key in PEM armour, with its end or, when that is missing, with everything that follows.
pub(super) fn private_key(bytes: &[u8], at: usize) -> Option<Hit> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const MAX_LABEL: usize = 48;
    let label = tail(bytes, at).strip_prefix(BEGIN)?;
    let label = label.get(..label.len().min(MAX_LABEL))?;
    let label = label.get(..find(label, b"-----")?)?;
    find(label, b"PRIVATE KEY")?;
    let inside = tail(bytes, at + BEGIN.len());
    let Some(footer) = find(inside, b"-----END ") else {
        return Some(Hit { start: at, end: bytes.len(), kind: "private-key" });
    };
    let footer = at + BEGIN.len() + footer + b"-----END ".len();
    let end = run(bytes, footer, |byte| byte.is_ascii_uppercase() || byte == b' ');
    let end = run(bytes, end, |byte| byte == b'-');
    Some(Hit { start: at, end, kind: "private-key" })
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

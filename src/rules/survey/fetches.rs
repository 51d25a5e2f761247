//! What programs that fetch by addresses leave in files.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use crate::rules::facts::Role;
use crate::shell::Arg;

impl Surveyor<'_> {
    pub(super) fn urls(&mut self, call: &Call, parsed: &Parsed) {
        let operands = parsed.operands.as_slice();
        for arg in operands {
            self.url(call, arg);
        }
        self.configured_outputs(call, parsed);
        let mut dest = None;
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            if let (Role::Dest, Some(dir)) = (role, &flag.value) {
                self.land_in(call, dir, operands);
                dest = Some(dir);
            }
        }
        if dest.is_none() && keeps_names(parsed) {
            for name in operands.iter().filter_map(|url| name_in(&url.text())) {
                self.file(call, Act::Create, &Arg::literal(&name), false);
            }
        }
    }
}

impl Surveyor<'_> {
    /// The files that curl's own settings name, where they can be read: `output = "x"`.
    fn configured_outputs(&mut self, call: &Call, parsed: &Parsed) {
        let Some(file) = parsed.value(&["-K", "--config"]).filter(|_| parsed.program.name == "curl") else {
            return;
        };
        let text = match file.known() {
            Some("-" | "/dev/stdin") => call.input.as_ref().map(Arg::to_text),
            _ => self.script_text(call, file),
        };
        let text = text.unwrap_or_default().replace(['=', ':', '"'], " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            if let [name, file] = pair
                && matches!(
                    name.trim_start_matches('-'),
                    "output" | "o" | "dump-header" | "D" | "cookie-jar" | "c" | "trace"
                )
            {
                self.file(call, Act::Create, &Arg::literal(file), false);
            }
        }
    }
}

/// Whether what is fetched gets the name that it has in its address.
fn keeps_names(parsed: &Parsed) -> bool {
    match parsed.program.name {
        "curl" => parsed.has(&["-O", "--remote-name", "--remote-name-all"]),
        "wget" | "wget2" => !parsed.has(&["-O", "--output-document", "-i", "--spider"]),
        "aria2c" | "axel" => !parsed.has(&["-o", "--out", "--output"]),
        _ => false,
    }
}

/// The last part of an address's path.
fn name_in(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let (_, name) = path.rsplit_once('/')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

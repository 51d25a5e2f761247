//! Settings of git and ssh that hold a command line.

use crate::domain::single_quoted;
use crate::shell::Arg;

words!("survey/setting");

/// Begins the keys of aliases.
pub(super) const ALIAS: &str = "alias.";

/// What means something to a shell.
const SHELL_SIGNS: [char; 8] = [';', '|', '&', '`', '$', '<', '>', '\n'];

/// The command line that a configuration of git has run by this setting, where it does. Beside those of a single call, what only a
/// file brings: the program of a helper, a remote that is a command, a submodule that is brought up to date by one.
pub fn configured_command(key: &str, value: &str) -> Option<String> {
    let lower = key.to_ascii_lowercase();
    let helper = lower.starts_with("credential.") && lower.ends_with("helper");
    let submodule = lower.starts_with("submodule.") && lower.ends_with(".update");
    if helper && value.starts_with('/') {
        return Some(value.to_owned());
    }
    if submodule {
        return value.strip_prefix('!').map(str::to_owned);
    }
    let written_over = key.strip_prefix("url.").and_then(|key| key.rsplit_once('.')).map(|(url, _)| url);
    if let Some(command) =
        value.strip_prefix("ext::").or_else(|| written_over.and_then(|url| url.strip_prefix("ext::")))
    {
        // Its words are apart by blanks, and a blank in one is written `% `.
        let words = command.replace("%%", "%\0").replace("% ", "\u{1}");
        let word = |word: &str| single_quoted(&word.replace('\u{1}', " ").replace("%\0", "%"));
        return Some(words.split(' ').map(word).collect::<Vec<_>>().join(" "));
    }
    setting_command(&Arg::literal(&format!("{key}={value}"))).map(|command| command.text().into_owned())
}

/// The command line in a setting `key=value` of git or ssh, where it holds one.
pub(in crate::rules) fn setting_command(setting: &Arg) -> Option<Arg> {
    let (key, _) = setting.prefix().split_once(['=', ' '])?;
    let value = super::options::after(setting, key.len() + 1)?;
    let key = key.to_ascii_lowercase();
    if key.starts_with(ALIAS) {
        if value.prefix().starts_with('!') {
            return super::options::after(&value, 1);
        }
        let mut text = Arg::literal("git ");
        super::output::append(&mut text, &value);
        return Some(text);
    }
    if key == "credential.helper" || (key.starts_with("credential.") && key.ends_with(".helper")) {
        if value.prefix().starts_with('!') {
            return super::options::after(&value, 1);
        }
        // A name becomes `git credential-NAME`, for a shell.
        let mut text = Arg::literal("git credential-");
        super::output::append(&mut text, &value);
        return value.text().contains(SHELL_SIGNS).then_some(text);
    }
    let runs = RUNNING_SETTINGS.contains(&key.as_str())
        || ["pager.", "filter.", "browser.", "man.", "gpg."]
            .iter()
            .any(|start| key.starts_with(start) && !key.ends_with(".required") && !key.ends_with(".format"))
        || RUNNING_ENDS.iter().any(|end| key.ends_with(end));
    let is_switch = matches!(
        value.known(),
        Some("true" | "false" | "0" | "1" | "yes" | "no" | "on" | "off" | "ssh" | "openpgp")
    );
    (runs && !is_switch).then_some(value)
}

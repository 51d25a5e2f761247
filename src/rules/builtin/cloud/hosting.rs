//! Repositories, sites and applications with those who host them.

use super::HUBS;
use crate::rules::builtin::lists;
use crate::rules::matcher::{Scene, flag_value, input_of};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/cloud/hosting");

/// `repos/a/b/issues/7/labels/flaky`: what sorts an issue or a repository, or asks for a review, and is put back in a moment.
fn is_of_a_thread(arg: &Arg) -> bool {
    const SORTS: &[&str] = &["labels", "assignees", "requested_reviewers", "reactions"];
    let path = arg.known().unwrap_or_default().trim_start_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["repos", _, _, "topics"] => true,
        // The branch of a request takes in what its base has got since.
        ["repos", _, _, "pulls", number, "update-branch"] => number.bytes().all(|b| b.is_ascii_digit()),
        ["repos", _, _, "issues" | "pulls", number, sorts, rest @ ..] => {
            !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && SORTS.contains(sorts)
                && !rest.iter().any(|part| matches!(*part, "" | "." | ".."))
        }
        _ => false,
    }
}

/// Whether a request is given anything to send.
fn fields(inv: &Invocation) -> bool {
    const FIELDS: &[&str] = &["-f", "-F", "--field", "--raw-field", "--input"];
    inv.flags.iter().any(|flag| FIELDS.contains(&flag.name.as_str()))
        || inv.args.iter().any(|arg| arg.known().is_some_and(|word| FIELDS.contains(&word)))
}

/// The address of what keeps a branch or a repository from being changed, or the name of a call that changes that.
fn is_guard(text: &str) -> bool {
    GUARD_PATHS.iter().any(|guard| text.contains(guard))
}

/// Whether all that a request says of a protection switches something on: nothing is off, none, or allowed, and nothing unknown.
fn only_tightens(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const OFF: &[&str] = &["false", "null", "0", "disabled", "evaluate", "none", "no_access", "[]"];
    const DATA: &[&str] = &["-d", "--data", "--data-raw", "--json"];
    let words: Vec<_> = inv.args.iter().map(Arg::text).collect();
    let poured = input_of(inv, scene);
    let told = poured.iter().any(|text| text.trim_start().starts_with('{') && !text.contains('$'));
    let behind = words.iter().skip(1).map(AsRef::as_ref).chain([""]);
    let from_file = words.iter().zip(behind).any(|(option, value)| {
        DATA.contains(&option.as_ref()) && value.starts_with('@')
            || option.starts_with("--input=")
            || option == "--input" && !(value == "-" && told)
    });
    let open = |arg: &Arg| arg.known().is_none();
    let poured_open = matches!(&inv.stdin, Stdin::Text(arg) if open(arg));
    if from_file || poured_open || inv.args.iter().any(open) {
        return false;
    }
    let loosens = |part: &str| {
        let bare: String = part.chars().filter(|c| !c.is_whitespace() && !"\"'{}".contains(*c)).collect();
        let Some((key, value)) = bare.split_once(['=', ':']) else { return false };
        let key =
            key.rsplit(['[', '.', '(']).find(|key| key.len() > 1).unwrap_or(key).trim_end_matches([']', ')']);
        let allows = key.starts_with("allow_") || key.starts_with("allows") || bare.contains("bypass");
        match value.trim_end_matches(')') {
            off if OFF.contains(&off) => !allows && key != "restrictions" && key != "lock_branch",
            _ => allows,
        }
    };
    let said = words.iter().map(AsRef::as_ref).chain(poured.iter().map(String::as_str));
    !said.flat_map(|text| text.split([',', '&', '?', '{', '}', '(', ')'])).any(loosens)
}

/// A code host is asked by a plain request to change what protects a branch.
fn loosened_by_request(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let texts: Vec<_> = inv.args.iter().map(Arg::text).collect();
    let method = |text: &str| {
        let text = text.strip_prefix("-X").or_else(|| text.strip_prefix("--request=")).unwrap_or(text);
        matches!(text, "PUT" | "PATCH" | "POST")
    };
    let host = |text: &str| {
        text.contains("://api.github.com/") || text.contains("/api/v3/") || text.contains("/api/v4/")
    };
    texts.iter().any(|text| host(text) && is_guard(text))
        && texts.iter().any(|text| method(text))
        && !only_tightens(inv, scene)
}

fn gh_api_deletes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let api = inv.sub.first().map(String::as_str).or_else(|| inv.operands.first().and_then(Arg::known))
        == Some("api");
    let method = flag_value(inv, &["-X", "--method"]).map(Arg::text).unwrap_or_default();
    let opens = inv.args.iter().map(Arg::text).any(|text| {
        let path = text.trim_start_matches('/');
        path.starts_with("repos/") && (path.ends_with("/hooks") || path.ends_with("/keys"))
    });
    let writes = opens && fields(inv);
    let glab = inv.program == "glab" && inv.args.iter().any(|arg| arg.known() == Some("DELETE"));
    let guarded = inv.args.iter().any(|arg| is_guard(&arg.text()));
    let method = method.to_ascii_uppercase();
    let changes = match method.as_str() {
        "DELETE" => true,
        "PUT" => !(guarded && only_tightens(inv, scene)),
        "PATCH" | "POST" => (guarded || writes) && !only_tightens(inv, scene),
        _ => writes || glab || guarded && fields(inv) && !only_tightens(inv, scene),
    };
    // Whatever else could be the address is one of these too.
    let address = |arg: &&Arg| {
        let text = arg.prefix();
        !text.starts_with('-') && !text.contains([':', '=']) && (text.contains('/') || arg.known().is_none())
    };
    let mut addresses = inv.args.iter().filter(address).peekable();
    api && changes && !(addresses.peek().is_some() && addresses.all(is_of_a_thread))
}

//! Requests by which code hosts and providers are asked to let somebody in, to show a secret, or to switch a protection off.

use super::PROVIDERS;
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::libraries::{self, Told, plain};
use crate::rules::builtin::lists;
use crate::rules::facts::operations::{GRANTS_ACCESS, LOOSENS_CLOUD, Operations, REVEALS_CLOUD_SECRET};
use crate::rules::matcher::{Found, Scene, Trigger, has_flag, runs};
use crate::shell::Arg;

/// Clients that are told a method and an address as a downloader is, the word behind which they are, and where an address without
/// a host lies.
const CLIENTS: &[(&str, &[&str])] = &[
    ("az", &["rest", "management.azure.com/"]),
    ("auth0", &["api", "x.auth0.com/api/v2/"]),
    ("databricks", &["api", "x.databricks.com/"]),
    ("gh", &["api", "api.github.com/"]),
    ("glab", &["api", "gitlab.com/api/v4/"]),
];

pub(super) const ASKING: Trigger =
    Trigger::programs(lists::DOWNLOADERS).or(Trigger::keys(CLIENTS)).or(Trigger::INTERPRETER);

words!("builtin/cloud/requests");

/// What shows a secret, by the last part of an address.
const SHOWING: &[&str] =
    &["listkeys", "listconnectionstrings", "listcredentials", "listaccountsas", "listclusteradmincredential"];

/// A request to a code host or a provider.
pub(super) struct Request {
    /// Its address in small letters, without the host of a code host and without a query.
    path: String,
    /// What it is given, in small letters without blanks.
    texts: Vec<String>,
    writes: bool,
}

/// The first command with such a request for which `test` holds.
pub(super) fn asked<'a>(scene: &Scene<'a>, test: fn(&Request) -> bool) -> Found<'a> {
    let may_ask = |inv: &Invocation| runs(inv, lists::DOWNLOADERS) || client(inv).is_some();
    let found = scene.running(may_ask).find(|inv| Request::of(inv).is_some_and(|one| test(&one)));
    if let Some(inv) = found {
        return Found::yes(&inv.text);
    }
    scene.code_where(|codes, _| {
        codes.iter().any(|code| code.contains("://") && Request::in_code(code).iter().any(test))
    })
}

impl Request {
    /// The requests that code may make: one for each address in it, with what stands around that as far as the next one.
    fn in_code(code: &str) -> Vec<Request> {
        let starts: Vec<usize> = code.match_indices("://").map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain(std::iter::once(code.len()));
        let mut before = 0;
        let mut all = Vec::new();
        for (at, end) in starts.iter().zip(ends) {
            let front = code.get(before..*at).unwrap_or_default();
            let rest = code.get(*at..end).unwrap_or_default();
            before = *at;
            let Some(path) = path_of(rest.split(['"', '\'', '`']).next().unwrap_or_default()) else {
                continue;
            };
            let (front, behind) = (plain(front), plain(rest));
            // What is called with the address stands right in front of it.
            let called = front.rsplit([';', ',']).next().unwrap_or_default();
            let writes = CHANGES
                .iter()
                .any(|call| called.contains(call) || behind.contains(call) && !call.starts_with('.'));
            let texts = vec![told(&rest.replace('\'', "\""))];
            all.push(Request { path, texts, writes });
        }
        all
    }

    fn of(inv: &Invocation) -> Option<Request> {
        let client = client(inv);
        if client.is_some_and(|told| inv.args.first().and_then(Arg::known) != told.first().copied()) {
            return None;
        }
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let method = |text: &String| {
            // `-XPOST`, `-sXPOST`, `--request=POST`
            let behind = text.strip_prefix('-').and_then(|text| text.rsplit_once(['X', '=']));
            let text = behind.map_or(text.as_str(), |(_, method)| method);
            ["PUT", "POST", "PATCH"].iter().any(|method| text.eq_ignore_ascii_case(method))
        };
        let asks = |text: &String| text.eq_ignore_ascii_case("GET") || text == "-XGET";
        let posted = |text: &String| ["--post-", "--body-"].iter().any(|front| text.starts_with(front));
        // HTTPie sends what it is given as `name=value`.
        let field =
            |text: &String| text.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '-', '?']));
        let given = texts.iter().any(|text| BODIES.contains(&text.as_str()))
            || BODIES.iter().any(|flag| has_flag(inv, flag))
            || runs(inv, &["http", "https", "xh"]) && texts.iter().any(field);
        let writes = given && !(client.is_some() && texts.iter().any(asks))
            || texts.iter().any(|text| method(text) || posted(text));
        let relative = |told: &'static [&'static str]| {
            let [word, front] = told else { return None };
            let address = |text: &&str| {
                !text.starts_with('-') && text.contains('/') && !text.contains([':', '=', ' ', '{'])
            };
            let mut paths = texts.iter().skip(1).filter_map(|text| text.split('?').next());
            let path = paths.find(|text| text != word && address(text))?;
            path_of(&format!("{front}{}", path.trim_start_matches('/')))
        };
        let path = texts.iter().find_map(|text| path_of(text)).or_else(|| client.and_then(relative))?;
        let texts: Vec<String> = texts.iter().map(|text| told(text)).collect();
        let acts = texts.iter().any(|text| ACTION_KEYS.iter().any(|key| text.contains(key)));
        Some(Request { path, texts, writes: writes || acts })
    }

    /// The actions of Amazon's that a request names, in small letters: `Action=CreateAccessKey`, `X-Amz-Target: Logs_1.DeleteLogGroup`.
    fn actions(&self) -> impl Iterator<Item = &str> {
        let told = self.texts.iter().filter(|_| self.path.contains("amazonaws.com"));
        let behind = told.flat_map(|text| ACTION_KEYS.iter().filter_map(move |key| text.split_once(key)));
        let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let names = behind.filter_map(move |(_, rest)| rest.split(|c| !of_name(c)).next());
        names.filter_map(|name| name.rsplit('.').next())
    }

    /// Whether one of them is one of these operations of its client.
    fn acts(&self, operations: Operations) -> bool {
        self.actions().any(|name| libraries::is_of_amazon(name, operations))
    }

    /// Something is deleted by an action that says so.
    pub(super) fn deletes(&self) -> bool {
        self.actions().any(|name| libraries::comes_to(name) == Some(Told::Deletes))
    }

    fn says(&self, words: &[&str]) -> bool {
        self.texts.iter().any(|text| words.iter().any(|word| text.contains(word)))
    }

    fn last(&self) -> &str {
        last_name(&self.path)
    }

    /// Somebody gets in, or everybody sees what was private.
    pub(super) fn grants(&self) -> bool {
        let into_group = self.path.contains("groups/") && self.path.contains("/users/");
        let renewed = self.path.contains("/users/") && self.says(&["\"password\":"]);
        let every = self.path.contains("firewall") && self.says(&["0.0.0.0"]);
        self.writes
            && (ADMITTING.contains(&self.last())
                || OF_PEOPLE.iter().any(|part| self.path.contains(part))
                || self.says(OPENS)
                || into_group
                || renewed
                || every
                || self.acts(GRANTS_ACCESS))
    }

    /// What protects an account is switched off.
    pub(super) fn loosens(&self) -> bool {
        let off = || self.says(OFF) || self.texts.iter().any(|text| text == "[]");
        let guards = || GUARDING.iter().any(|part| self.path.contains(part));
        self.writes
            && (guards() && (matches!(self.last(), "deactivate" | "reset_factors" | "tfa-disable") || off())
                || self.says(&["\"deletionprotectionenabled\":false"])
                || self.acts(LOOSENS_CLOUD))
    }

    /// A secret is asked for.
    pub(super) fn reveals(&self) -> bool {
        let of_secret = || self.path.contains("/secrets/") && self.last() == "access";
        let of_group = ["/groups/", "/projects/"].iter().any(|part| self.path.contains(part));
        self.writes && (SHOWING.contains(&self.last()) || self.acts(REVEALS_CLOUD_SECRET))
            || self.last().ends_with(":access")
            || !self.writes
                && (SHOWN.contains(&self.last()) || of_secret() || of_group && self.last() == "variables")
    }
}

/// What such a client is told, and where it goes.
fn client(inv: &Invocation) -> Option<&'static [&'static str]> {
    CLIENTS.iter().find(|(program, _)| inv.program == *program).map(|(_, told)| *told)
}

/// A text in small letters without blanks.
fn told(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect()
}

/// The address of a request to a code host or to a provider, however its host is written.
fn path_of(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let place = rest.split(['?', '#']).next()?.trim_end_matches('/');
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.strip_suffix(":443").unwrap_or(host);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    if !host.contains('.') || !host.chars().all(plain) {
        return None;
    }
    if host == "api.github.com" || path.starts_with("api/v4/") {
        return Some(path.to_owned());
    }
    let whole = format!("{host}/{path}");
    let of_provider = |front: &&&str| whole.find(**front).is_some_and(|at| at <= host.len());
    // Where cards become tokens nobody gets in.
    PROVIDERS.iter().find(of_provider).filter(|front| !front.starts_with("api.stripe.com"))?;
    Some(whole)
}

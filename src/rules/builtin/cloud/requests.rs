//! Requests by which code hosts and providers are asked to let somebody in, to show a secret, or to switch a protection off.

use super::PROVIDERS;
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::libraries::{self, plain};
use crate::rules::builtin::lists;
use crate::rules::facts::operations::{GRANTS_ACCESS, LOOSENS_CLOUD, Operations, REVEALS_CLOUD_SECRET};
use crate::rules::matcher::{Found, Scene, Trigger, has_flag, has_sub, runs};
use crate::shell::Arg;

/// The client of a provider that is given an address and a method as a downloader is: `az rest`.
const CLIENTS: &[&str] = &["az"];

pub(super) const ASKING: Trigger =
    Trigger::programs(lists::DOWNLOADERS).or(Trigger::programs(CLIENTS)).or(Trigger::INTERPRETER);

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
    let may_ask = |inv: &Invocation| runs(inv, lists::DOWNLOADERS) || runs(inv, CLIENTS);
    let asks = |inv: &&Invocation| !runs(inv, CLIENTS) || has_sub(inv, "rest");
    let found =
        scene.running(may_ask).filter(asks).find(|inv| Request::of(inv).is_some_and(|one| test(&one)));
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
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let flags = ["-d", "--data", "--data-raw", "--data-binary", "--json", "-F", "--body"];
        let method = |text: &String| {
            // `-XPOST`, `-sXPOST`, `--request=POST`
            let behind = text.strip_prefix('-').and_then(|text| text.rsplit_once(['X', '=']));
            let text = behind.map_or(text.as_str(), |(_, method)| method);
            ["PUT", "POST", "PATCH"].iter().any(|method| text.eq_ignore_ascii_case(method))
        };
        let posted = |text: &String| ["--post-", "--body-"].iter().any(|front| text.starts_with(front));
        // HTTPie sends what it is given as `name=value`.
        let field =
            |text: &String| text.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '-', '?']));
        let writes = flags.iter().any(|flag| has_flag(inv, flag))
            || texts.iter().any(|text| method(text) || posted(text))
            || runs(inv, &["http", "https", "xh"]) && texts.iter().any(field);
        let path = texts.iter().find_map(|text| path_of(text))?;
        let texts: Vec<String> = texts.iter().map(|text| told(text)).collect();
        let acts = texts.iter().any(|text| text.contains("action="));
        Some(Request { path, texts, writes: writes || acts })
    }

    /// Whether a request names an action of Amazon's that is one of these: `Action=CreateAccessKey`.
    fn acts(&self, operations: Operations) -> bool {
        let named = self
            .texts
            .iter()
            .filter_map(|text| text.split_once("action="))
            .map(|(_, rest)| rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default());
        self.path.contains("amazonaws.com")
            && named.into_iter().any(|name| libraries::is_of_amazon(name, operations))
    }

    fn says(&self, words: &[&str]) -> bool {
        self.texts.iter().any(|text| words.iter().any(|word| text.contains(word)))
    }

    fn last(&self) -> &str {
        last_name(&self.path)
    }

    /// Somebody gets in, or everybody sees what was private.
    pub(super) fn grants(&self) -> bool {
        let opens = self.says(&["\"private\":false", "\"visibility\":\"public\"", "visibility=public"]);
        let into_group = self.path.contains("groups/") && self.path.contains("/users/");
        let renewed = self.path.contains("/users/") && self.says(&["\"password\":"]);
        let every = self.path.contains("firewall") && self.says(&["0.0.0.0"]);
        self.writes
            && (ADMITTING.contains(&self.last())
                || OF_PEOPLE.iter().any(|part| self.path.contains(part))
                || opens
                || into_group
                || renewed
                || every
                || self.acts(GRANTS_ACCESS))
    }

    /// What protects an account is switched off.
    pub(super) fn loosens(&self) -> bool {
        let off = self.says(&["\"disabled\"", "enabled\":false", "\"inactive\"", "essentially_off", "=off"]);
        self.writes
            && GUARDING.iter().any(|part| self.path.contains(part))
            && (matches!(self.last(), "deactivate" | "reset_factors") || off)
            || self.writes
                && (self.says(&["\"deletionprotectionenabled\":false"]) || self.acts(LOOSENS_CLOUD))
    }

    /// A secret is asked for.
    pub(super) fn reveals(&self) -> bool {
        self.writes && (SHOWING.contains(&self.last()) || self.acts(REVEALS_CLOUD_SECRET))
            || self.last().ends_with(":access")
    }
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

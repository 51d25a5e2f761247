//! Requests by which code hosts and providers are asked to let somebody in, to show a secret, or to switch a protection off.

use super::PROVIDERS;
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{Found, Scene, Trigger, has_flag, has_sub, runs};
use crate::shell::Arg;

/// The client of a provider that is given an address and a method as a downloader is: `az rest`.
const CLIENTS: &[&str] = &["az"];

pub(super) const ASKING: Trigger = Trigger::programs(lists::DOWNLOADERS).or(Trigger::programs(CLIENTS));

words!("builtin/cloud/requests");

/// The same, by a part within it.
const OF_PEOPLE: &[&str] = &[
    "/collaborators/",
    "/memberships/",
    "/members/",
    "/roleassignments/",
    "/role_assignments",
    ":setiampolicy",
];

/// What protects, by a part of an address.
const GUARDING: &[&str] = &[
    "/conditionalaccess/",
    "/policies/",
    "/guardian/",
    "/authenticators/",
    "/mfa",
    "-protection",
    "/users/",
];

/// What shows a secret, by the last part of an address.
const SHOWING: &[&str] =
    &["listkeys", "listconnectionstrings", "listcredentials", "listaccountsas", "listclusteradmincredential"];

/// A request to a code host or a provider.
pub(super) struct Request {
    /// Its address in small letters, without the host of a code host and without a query.
    path: String,
    /// What it is given, without blanks.
    texts: Vec<String>,
    writes: bool,
}

/// The first command with such a request for which `test` holds.
pub(super) fn asked<'a>(scene: &Scene<'a>, test: fn(&Request) -> bool) -> Found<'a> {
    let may_ask = |inv: &Invocation| runs(inv, lists::DOWNLOADERS) || runs(inv, CLIENTS);
    let asks = |inv: &&Invocation| !runs(inv, CLIENTS) || has_sub(inv, "rest");
    let found =
        scene.running(may_ask).filter(asks).find(|inv| Request::of(inv).is_some_and(|one| test(&one)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

impl Request {
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
        let plain = |text: &String| text.chars().filter(|c| !c.is_whitespace()).collect();
        Some(Request { path, texts: texts.iter().map(plain).collect(), writes })
    }

    fn says(&self, words: &[&str]) -> bool {
        self.texts.iter().any(|text| words.iter().any(|word| text.contains(word)))
    }

    fn last(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Somebody gets in, or everybody sees what was private.
    pub(super) fn grants(&self) -> bool {
        let opens = self.says(&["\"private\":false", "\"visibility\":\"public\"", "visibility=public"]);
        let into_group = self.path.contains("groups/") && self.path.contains("/users/");
        let every = self.path.contains("firewall") && self.says(&["0.0.0.0"]);
        self.writes
            && (ADMITTING.contains(&self.last())
                || OF_PEOPLE.iter().any(|part| self.path.contains(part))
                || opens
                || into_group
                || every)
    }

    /// What protects an account is switched off.
    pub(super) fn loosens(&self) -> bool {
        let off = self.says(&["\"disabled\"", "\"enabled\":false", "\"INACTIVE\""]);
        self.writes
            && GUARDING.iter().any(|part| self.path.contains(part))
            && (matches!(self.last(), "deactivate" | "reset_factors") || off)
            || self.writes && self.says(&["\"deletionProtectionEnabled\":false"])
    }

    /// A secret is asked for.
    pub(super) fn reveals(&self) -> bool {
        self.writes && SHOWING.contains(&self.last()) || self.last().ends_with(":access")
    }
}

/// The address of a request to a code host or to a provider, however its host is written.
fn path_of(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split(['?', '#']).next()?.trim_end_matches('/').split_once('/')?;
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

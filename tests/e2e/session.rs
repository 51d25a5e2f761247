//! How each client is started, and what one session left behind.

use crate::clients::Client;
use crate::model::{Heard, Told};
use crate::wire::Format;
use std::collections::BTreeMap;
use std::process::Output;

impl Client {
    /// Headless, with every permission the client can give.
    pub fn arguments(self) -> Vec<&'static str> {
        match self {
            Self::Claude => vec!["-p", "Do what is to be done.", "--permission-mode", "bypassPermissions"],
            Self::OpenCode => vec!["run", "--auto", "Do what is to be done."],
            Self::Codex => {
                vec!["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "Do what is to be done."]
            }
        }
    }

    /// What makes the client ask the scripted model, and nobody else.
    pub fn environment(self) -> Vec<(&'static str, String)> {
        let pairs: &[(&str, &str)] = match self {
            Self::Claude => &[
                ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
                ("ANTHROPIC_API_KEY", "dummy"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                // Without it, bypassPermissions is refused to root, which the tests are inside their namespaces.
                ("IS_SANDBOX", "1"),
            ],
            Self::OpenCode => &[
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
                ("OPENCODE_CONFIG_CONTENT", include_str!("opencode-model.json")),
            ],
            Self::Codex => &[("SCRIPTED_KEY", "dummy")],
        };
        pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    const fn format(self) -> Format {
        match self {
            Self::Claude => Format::Anthropic,
            Self::OpenCode => Format::OpenAi,
            Self::Codex => Format::Responses,
        }
    }
}

/// So much of the end of what a client printed is told.
const STORY_BYTES: usize = 2000;

/// What a run of programs came to, while the scripted model listened.
pub struct Played {
    pub output: Output,
    pub timed_out: bool,
    pub heard: Heard,
    /// What its programs printed into files of the home directory, by the names of the files.
    pub printed: Vec<(String, Vec<u8>)>,
}

/// What one session left behind.
pub struct Session {
    pub output: Output,
    /// What the programs of a script printed, by the names of the files.
    printed: Vec<(String, Vec<u8>)>,
    told: BTreeMap<String, Told>,
    heard: BTreeMap<&'static str, String>,
    /// Every request of every lane, whole.
    requests: Vec<(&'static str, String)>,
}

impl Session {
    /// Fails when the client did not come to an orderly end.
    pub fn new(client: Client, played: Played) -> Self {
        let session = Self::of(client, played);
        assert!(session.output.status.success(), "the client failed\n{}", session.story());
        session
    }

    /// Fails when the client did not end at all or never asked its model.
    pub fn of(client: Client, played: Played) -> Self {
        let Played { output, timed_out, heard: model, printed } = played;
        let format = client.format();
        let mut told = BTreeMap::new();
        let mut heard = BTreeMap::new();
        for exchange in &model.exchanges {
            told.extend(format.told(&exchange.body));
            heard.insert(exchange.lane, format.heard(&exchange.body));
        }
        let requests = model.exchanges.iter().map(|sent| (sent.lane, sent.body.to_string())).collect();
        let session = Self { output, printed, told, heard, requests };
        assert!(!timed_out, "the client did not end in time\n{}", session.story());
        assert!(model.complaints.is_empty(), "{:#?}\n{}", model.complaints, session.story());
        assert!(!session.heard.is_empty(), "the model was never asked\n{}", session.story());
        session
    }

    /// What the model was told as the result of the call `label`.
    pub fn told(&self, label: &str) -> &Told {
        self.told.get(label).unwrap_or_else(|| panic!("no result of {label}\n{}", self.story()))
    }

    /// Whether the model was told a result of the call `label`.
    pub fn was_told(&self, label: &str) -> bool {
        self.told.contains_key(label)
    }

    /// All that a lane's model heard from the user's side: prompts, results and what hooks added.
    pub fn heard(&self, lane: &str) -> &str {
        self.heard.get(lane).unwrap_or_else(|| panic!("no lane {lane}\n{}", self.story()))
    }

    /// All that a lane's client ever sent to its model, as JSON: the prompts, the tools, the history.
    pub fn sent(&self, lane: &str) -> String {
        let of_lane = self.requests.iter().filter(|(sender, _)| *sender == lane);
        of_lane.map(|(_, body)| body.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The session for a person who wonders why a test failed.
    pub fn story(&self) -> String {
        let text = |bytes: &[u8]| {
            let bytes = &bytes[bytes.len().saturating_sub(STORY_BYTES)..];
            String::from_utf8_lossy(bytes).into_owned()
        };
        let mut story = format!("status: {}\n", self.output.status);
        story += &format!("stdout: {}\nstderr: {}\n", text(&self.output.stdout), text(&self.output.stderr));
        for (name, bytes) in &self.printed {
            story += &format!("{name}: {}\n", text(bytes));
        }
        for (label, told) in &self.told {
            story += &format!("{label} ({}): {}\n", if told.is_error { "error" } else { "ok" }, told.text);
        }
        story
    }
}

//! OpenCode's exports, and the sessions, messages and parts of its store, a file each.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Form, Recorded, Told, Unread, nameless};
use crate::domain::Client;

#[derive(Deserialize)]
struct Export<'a> {
    info: Info,
    #[serde(borrow)]
    messages: Vec<Exchange<'a>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Info {
    id: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    directory: Option<String>,
}

#[derive(Deserialize)]
struct Exchange<'a> {
    info: About,
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct About {
    agent: Option<String>,
    mode: Option<String>,
    path: Option<AboutPath>,
}

#[derive(Debug, Clone, Deserialize)]
struct AboutPath {
    cwd: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Part<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    #[serde(borrow)]
    state: Option<State<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    status: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    metadata: Option<Value>,
    time: Option<Span>,
}

#[derive(Deserialize)]
struct Span {
    start: Option<u64>,
}

/// What the message around a part says of it.
pub(super) struct Held {
    pub session: String,
    pub root: Option<String>,
    pub agent: Option<String>,
    pub cwd: Option<String>,
}

impl Part<'_> {
    /// The call and its end.
    pub fn told(self, held: &Held) -> Vec<Told> {
        let (Some("tool"), Some(tool), Some(id), Some(state)) =
            (self.kind.as_deref(), self.tool, self.call_id, self.state)
        else {
            return Vec::new();
        };
        let exit = state.metadata.as_ref().and_then(|data| data.get("exit")).and_then(Value::as_i64);
        let failed = state.status.as_deref() == Some("error") || exit.is_some_and(|code| code != 0);
        let call = Recorded {
            form: Form::OpenCode,
            client: Client::OpenCode,
            session: held.root.clone().unwrap_or_else(|| held.session.clone()),
            agent: held.root.as_ref().map(|_| held.session.clone()),
            agent_type: held.agent.clone(),
            cwd: held.cwd.clone(),
            mode: None,
            time: state.time.and_then(|time| time.start).map(|at| at.to_string()),
            id: id.clone(),
            tool,
            input: state.input.map_or("{}", RawValue::get).to_owned(),
        };
        let session = call.session.clone();
        vec![Told::Call(Box::new(call)), Told::Ended { session, id, failed }]
    }
}

impl Held {
    fn new(info: &Info, about: &About) -> Held {
        let cwd = about.path.as_ref().and_then(|path| path.cwd.clone()).or_else(|| info.directory.clone());
        Held {
            session: info.id.clone(),
            root: info.parent.clone(),
            agent: about.agent.clone().or_else(|| about.mode.clone()),
            cwd,
        }
    }
}

/// What an export tells, in its order.
fn export(text: &str) -> Result<Vec<Told>, Unread> {
    let Export { info, messages } = serde_json::from_str(text).map_err(|_| nameless())?;
    let mut told = Vec::new();
    for Exchange { info: about, parts } in messages {
        let held = Held::new(&info, &about);
        for part in parts {
            if let Ok(part) = serde_json::from_str::<Part<'_>>(part.get()) {
                told.extend(part.told(&held));
            }
        }
    }
    Ok(told)
}

/// Whether an id is one of OpenCode's store.
pub(super) fn is_stored(id: &str) -> bool {
    ["ses_", "msg_", "prt_"].iter().any(|kind| id.starts_with(kind))
}

/// What the store said of sessions and messages so far; their parts say only whose they are.
#[derive(Debug, Default)]
pub struct Stored {
    sessions: HashMap<String, Info>,
    messages: HashMap<String, About>,
}

#[derive(Deserialize)]
struct Whose {
    id: Option<String>,
    #[serde(rename = "sessionID")]
    session: Option<String>,
    #[serde(rename = "messageID")]
    message: Option<String>,
}

impl Stored {
    /// What an export, or one file of the store, tells.
    pub(super) fn read(&mut self, text: &str) -> Result<Vec<Told>, Unread> {
        let whose: Whose = serde_json::from_str(text).map_err(|_| nameless())?;
        let Some(id) = whose.id else { return export(text) };
        match id.split_once('_') {
            Some(("ses", _)) => {
                let info: Info = serde_json::from_str(text).map_err(|_| nameless())?;
                self.sessions.insert(id, info);
                Ok(Vec::new())
            }
            Some(("msg", _)) => {
                let about: About = serde_json::from_str(text).map_err(|_| nameless())?;
                self.messages.insert(id, about);
                Ok(Vec::new())
            }
            _ => {
                let part: Part<'_> = serde_json::from_str(text).map_err(|_| nameless())?;
                let session = whose.session.ok_or_else(nameless)?;
                let info = self.sessions.get(&session).cloned();
                let info = info.unwrap_or_else(|| Info { id: session, ..Info::default() });
                let about = whose.message.and_then(|id| self.messages.get(&id).cloned()).unwrap_or_default();
                Ok(part.told(&Held::new(&info, &about)))
            }
        }
    }
}

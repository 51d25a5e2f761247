//! The scripted model: what it says is fixed beforehand, what it is told is kept.
//! It listens on a Unix socket, because that crosses network namespaces; `bridge.js` stands in for it on loopback.

use crate::wire::{self, Http};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// One tool call; `label` names it in the test and is its id on the wire.
#[derive(Clone)]
pub struct Call {
    pub label: String,
    pub tool: &'static str,
    pub input: Value,
}

/// A call of `tool`, to be found again under `label`.
pub fn call(label: impl Into<String>, tool: &'static str, input: Value) -> Call {
    Call { label: label.into(), tool, input }
}

/// What the model says at one time.
#[derive(Clone)]
pub enum Answer {
    Calls(Vec<Call>),
    Text(String),
}

/// What one lane's model was told until now.
pub struct Past {
    pub told: BTreeMap<String, Told>,
    /// The prompts, the results and what hooks added.
    pub heard: String,
}

/// One answer of the model, and what the test does just before it is given.
pub struct Step {
    before: Option<Box<dyn Fn() + Send + Sync>>,
    pause: Duration,
    /// Tokens that the request had, as the model reports them.
    tokens: u32,
    answer: Box<dyn Fn(&Past) -> Answer + Send + Sync>,
}

impl Step {
    /// Answers with these tool calls.
    pub fn call(calls: impl IntoIterator<Item = Call>) -> Self {
        Self::always(Answer::Calls(calls.into_iter().collect()))
    }

    /// Answers with this text, which ends the agent's turn.
    pub fn say(text: impl Into<String>) -> Self {
        Self::always(Answer::Text(text.into()))
    }

    fn always(answer: Answer) -> Self {
        Self::made(move |_| answer.clone())
    }

    /// Answers with what `make` makes of what was told until now; its panic fails the session.
    pub fn made(make: impl Fn(&Past) -> Answer + Send + Sync + 'static) -> Self {
        Self { before: None, pause: Duration::ZERO, tokens: TOKENS, answer: Box::new(make) }
    }

    /// Runs `work` in the test, once, before answering; its panic fails the session.
    pub fn after(mut self, work: impl Fn() + Send + Sync + 'static) -> Self {
        self.before = Some(Box::new(work));
        self
    }

    /// Says that the request was so long that the client will cut its context short.
    pub fn filling(mut self, tokens: u32) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lets the client's file watchers see what happened before answering.
    pub fn pausing(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

/// Tokens of a request of which nothing else is said.
const TOKENS: u32 = 10;

/// What the model says, by lane: the main agent's, and one for each marker that stands in a sub-agent's prompt.
#[derive(Default)]
pub struct Script {
    lanes: BTreeMap<&'static str, Vec<Step>>,
}

/// The main agent's lane.
pub const MAIN: &str = "";

impl Script {
    /// The main agent's steps.
    pub fn main(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { lanes: BTreeMap::from([(MAIN, steps.into_iter().collect())]) }
    }

    /// The steps of the sub-agent whose prompt holds `marker`.
    pub fn sub(mut self, marker: &'static str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.lanes.insert(marker, steps.into_iter().collect());
        self
    }

    fn lane_of(&self, prompt: &str) -> &'static str {
        self.lanes
            .keys()
            .copied()
            .filter(|marker| !marker.is_empty())
            .find(|m| prompt.contains(m))
            .unwrap_or(MAIN)
    }
}

/// What the model was told as a tool's result.
#[derive(Clone, Debug)]
pub struct Told {
    pub text: String,
    pub is_error: bool,
}

/// One request of the client, as the model saw it.
pub struct Exchange {
    pub lane: &'static str,
    pub body: Value,
}

struct Shared {
    script: Script,
    done: AtomicBool,
    begun: Mutex<BTreeSet<(&'static str, usize)>>,
    exchanges: Mutex<Vec<Exchange>>,
    complaints: Mutex<Vec<String>>,
}

/// The model, listening.
pub struct Model {
    shared: Arc<Shared>,
    socket: PathBuf,
    thread: Option<JoinHandle<()>>,
}

/// What the model heard from start to end.
pub struct Heard {
    pub exchanges: Vec<Exchange>,
    pub complaints: Vec<String>,
}

impl Model {
    /// Listens on `socket` and plays `script`.
    pub fn listen(socket: &Path, script: Script) -> Self {
        let listener = UnixListener::bind(socket).expect("bind the model's socket");
        let shared = Arc::new(Shared {
            script,
            done: AtomicBool::new(false),
            begun: Mutex::default(),
            exchanges: Mutex::default(),
            complaints: Mutex::default(),
        });
        let inner = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if inner.done.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&inner);
                if let Ok(stream) = stream {
                    std::thread::spawn(move || shared.serve(stream));
                }
            }
        });
        Self { shared, socket: socket.to_path_buf(), thread: Some(thread) }
    }

    /// Stops listening and gives what was heard.
    pub fn end(mut self) -> Heard {
        self.shared.done.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.socket));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the model's thread");
        }
        Heard {
            exchanges: std::mem::take(&mut self.shared.exchanges.lock().unwrap()),
            complaints: std::mem::take(&mut self.shared.complaints.lock().unwrap()),
        }
    }
}

impl Shared {
    fn serve(&self, stream: UnixStream) {
        let Some(request) = Http::read(&stream) else { return };
        let Some(format) = wire::Format::of(&request.path) else {
            wire::not_found(&stream);
            return;
        };
        let body: Value = serde_json::from_slice(&request.body).expect("the client's JSON");
        if !format.has_tools(&body) {
            format.say(&stream, "A title");
            return;
        }
        let lane = self.script.lane_of(&format.first_prompt(&body));
        let at = format.answers_so_far(&body);
        self.exchanges.lock().unwrap().push(Exchange { lane, body: body.clone() });
        let Some(step) = self.script.lanes.get(lane).and_then(|steps| steps.get(at)) else {
            format.say(&stream, "That was all.");
            return;
        };
        // A client that repeats a request must not repeat what the test does before it.
        if self.begun.lock().unwrap().insert((lane, at)) {
            if let Some(work) = &step.before {
                self.watched(lane, at, work);
            }
            std::thread::sleep(step.pause);
        }
        let past = Past { told: format.told(&body).into_iter().collect(), heard: format.heard(&body) };
        match self.watched(lane, at, || (step.answer)(&past)) {
            Some(Answer::Calls(calls)) => format.call(&stream, &calls, step.tokens),
            Some(Answer::Text(text)) => format.say(&stream, &text),
            None => format.say(&stream, "The test failed here."),
        }
    }

    /// What comes of the test's own work; its panic is kept for the end of the session.
    fn watched<T>(&self, lane: &str, at: usize, work: impl Fn() -> T) -> Option<T> {
        let panic = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => return Some(done),
            Err(panic) => panic,
        };
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        self.complaints.lock().unwrap().push(format!("{lane}[{at}]: {}", text.unwrap_or_default()));
        None
    }
}

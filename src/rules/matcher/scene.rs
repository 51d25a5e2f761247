//! A view with what several rules ask of it worked out once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::class::{Named, at_by, names_in};
use super::firsts::may_lie_at_places;
use super::{
    Classes, Found, Hit, Sought, Spoken, Told, Trigger, View, When, classify, code_of, runs, runs_code,
};
use crate::domain::{Action, Claim, Effect, PlainHash, Verdict};
use crate::rules::Invocation;
use crate::rules::foreign::{Account, Language, account};

/// Effects whose classes are kept without asking for memory: an ordinary call has no more.
const KEPT: usize = 8;

/// What the conditions look at.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub view: View<'a>,
    kept: [Classes; KEPT],
    /// Those of later effects.
    more: Vec<Classes>,
    /// The names in the effects' targets, once a rule asks for a place.
    names: OnceCell<Vec<u64>>,
    /// Which of the effects can be at a place that a rule names.
    placed: OnceCell<Vec<bool>>,
    pub trigger: Trigger,
    /// How often a word was held against the name of an effect's target.
    pub looks: std::cell::Cell<usize>,
    /// A call inside another: code in it is not followed further.
    pub nested: bool,
    /// It is certain that this call is made; else it may be a text that only reads like one.
    pub certain: bool,
    /// A command that stands in what a call writes: what it writes itself is not followed.
    pub inner: bool,
    /// A call that says the same as another, written otherwise: it is not written otherwise again.
    pub rebuilt: bool,
    line: OnceCell<Sought>,
    told: OnceCell<Option<Told<'a>>>,
    printers: OnceCell<Vec<&'a Invocation>>,
    /// The invocations by their pipelines.
    piped: OnceCell<Vec<&'a Invocation>>,
    /// The code that invocations are given, by where they stand.
    codes: RefCell<HashMap<usize, Rc<[Sought]>, PlainHash>>,
    /// The same with what rules write out in it, by where they stand.
    written_out: RefCell<HashMap<usize, Rc<[String]>, PlainHash>>,
    /// What programs that no row knows are told, by where their invocations stand.
    spoken: RefCell<HashMap<usize, Option<Rc<Spoken<'a>>>, PlainHash>>,
    /// What code does that was read, by its text.
    accounts: RefCell<Vec<Read>>,
    /// What matched of conditions that others ask about.
    hits: RefCell<Vec<(&'static When, Hit<'a>)>>,
    /// The programs that run, and where their invocations stand.
    programs: OnceCell<Programs<'a>>,
    /// Whether the command line says that it works on what tests use.
    pub for_tests: OnceCell<bool>,
    /// Whether the call makes variables of what stands in a file of settings.
    pub loads_settings: OnceCell<bool>,
    /// What is said of a content that the call writes, once it was looked at.
    pub written: OnceCell<Verdict>,
    /// What is said of code once its strings are written out.
    pub plain: OnceCell<(Verdict, usize)>,
}

/// A piece of code that was read, and what it does.
#[derive(Debug)]
struct Read {
    language: Language,
    code: String,
    account: Option<Rc<Account>>,
}

impl<'a> Scene<'a> {
    pub fn new(view: View<'a>) -> Scene<'a> {
        let mut kept = [Classes::NONE; KEPT];
        for (classes, effect) in kept.iter_mut().zip(&view.survey.effects) {
            *classes = classify(&effect.target, effect.kind, &view);
        }
        let later = view.survey.effects.iter().skip(KEPT);
        let more: Vec<Classes> = later.map(|effect| classify(&effect.target, effect.kind, &view)).collect();
        Scene {
            view,
            trigger: Trigger::of_call(&view, kept.iter().chain(&more).copied()),
            kept,
            more,
            names: OnceCell::new(),
            placed: OnceCell::new(),
            looks: std::cell::Cell::new(0),
            nested: false,
            certain: true,
            inner: false,
            rebuilt: false,
            line: OnceCell::new(),
            told: OnceCell::new(),
            printers: OnceCell::new(),
            piped: OnceCell::new(),
            codes: RefCell::default(),
            written_out: RefCell::default(),
            spoken: RefCell::default(),
            accounts: RefCell::default(),
            hits: RefCell::default(),
            programs: OnceCell::new(),
            for_tests: OnceCell::new(),
            loads_settings: OnceCell::new(),
            written: OnceCell::new(),
            plain: OnceCell::new(),
        }
    }

    pub fn nested(view: View<'a>) -> Scene<'a> {
        Scene { nested: true, certain: false, ..Scene::new(view) }
    }

    /// The scene of a call that code is known to make.
    pub fn made(view: View<'a>) -> Scene<'a> {
        Scene { certain: true, ..Scene::nested(view) }
    }

    /// The scene of a command that stands in what a call writes.
    pub fn inner(view: View<'a>) -> Scene<'a> {
        Scene { inner: true, ..Scene::new(view) }
    }

    /// The scene of a call that says the same as another.
    pub fn rebuilt(view: View<'a>) -> Scene<'a> {
        Scene { rebuilt: true, ..Scene::new(view) }
    }

    pub fn effects(&self) -> impl Iterator<Item = (&'a Effect, Classes)> + '_ {
        self.view.survey.effects.iter().zip(self.kept.iter().chain(&self.more).copied())
    }

    /// Whether the target of the effect with that number can be at one of the places that built-in rules name. False: it is at none.
    #[inline]
    pub fn may_be_at(&self, index: usize) -> bool {
        let placed = self.placed.get().unwrap_or_else(|| self.find_placed());
        placed.get(index).copied().unwrap_or(true)
    }

    #[cold]
    fn find_placed(&self) -> &Vec<bool> {
        let home = self.view.facts.places.home.as_deref();
        let targets = self.view.survey.effects.iter().map(|effect| &effect.target);
        self.placed.get_or_init(|| may_lie_at_places(targets, home))
    }

    /// Whether the target of the effect with that number is one of `places` or lies below one.
    pub fn is_at(&self, index: usize, effect: &Effect, places: &[Named<'_>]) -> bool {
        if places.is_empty() {
            return false;
        }
        let all = || self.view.survey.effects.iter().map(|effect| names_in(&effect.target)).collect();
        let names = self.names.get_or_init(all).get(index).copied().unwrap_or(u64::MAX);
        at_by(&effect.target, names, places, self.view.facts.places.home.as_deref())
    }

    /// The call of a tool of which only its name and its arguments tell anything.
    pub fn told(&self) -> Option<&Told<'a>> {
        self.told.get_or_init(|| Told::of(&self.view)).as_ref()
    }

    pub fn invocations(&self) -> &'a [Invocation] {
        &self.view.survey.invocations
    }

    /// The invocations that print what they are given, for those behind them in a pipeline.
    pub fn printers(&self, pipeline: u32) -> &[&'a Invocation] {
        let all = self.printers.get_or_init(|| {
            let prints = |inv: &&Invocation| runs(inv, &["echo", "printf", "cat", "tee"]);
            let mut all: Vec<&Invocation> = self.invocations().iter().filter(prints).collect();
            crate::domain::sort_by_key(&mut all, |inv| inv.pipeline);
            all
        });
        of_pipeline(all, pipeline)
    }

    /// The invocations whose output stands in a word of one: `curl -d "$(cat a)"`.
    pub fn within(&self, inv: &Invocation) -> impl Iterator<Item = &'a Invocation> {
        let all = self.invocations();
        let at = all.iter().position(|other| std::ptr::eq(other, inv));
        all.iter().filter(move |other| other.feeds.is_some() && other.feeds == at)
    }

    /// The invocations of stages in front of one, in their order.
    pub fn before(&self, inv: &Invocation) -> impl Iterator<Item = &'a Invocation> {
        let stage = inv.stage;
        self.piped(inv.pipeline).iter().copied().filter(move |other| other.stage < stage)
    }

    /// The commands that a shell reads from its input, where that is known: they stand deeper than it.
    pub fn read_by(&self, shell: &Invocation) -> impl Iterator<Item = &'a Invocation> {
        let (depth, stage) = (shell.wrappers.len(), shell.stage);
        let piped = self.piped(shell.pipeline).iter().copied();
        piped.filter(move |inv| inv.stage >= stage && inv.wrappers.get(depth) == Some(&shell.program))
    }

    /// The invocations of one pipeline, in their order. Sorted once, so that a long command line costs no more than its length.
    pub fn piped(&self, pipeline: u32) -> &[&'a Invocation] {
        let all = self.piped.get_or_init(|| {
            let mut all: Vec<&Invocation> = self.invocations().iter().collect();
            crate::domain::sort_by_key(&mut all, |inv| inv.pipeline);
            all
        });
        of_pipeline(all, pipeline)
    }

    /// The texts of `code_of`, made ready for hundreds of words to be sought in them.
    pub fn codes(&self, inv: &'a Invocation) -> Rc<[Sought]> {
        let key = std::ptr::from_ref(inv).addr();
        let known = self.codes.try_borrow().ok().and_then(|codes| codes.get(&key).cloned());
        known.unwrap_or_else(|| {
            let texts: Rc<[Sought]> = code_of(inv, self).map(Sought::new).collect();
            if let Ok(mut codes) = self.codes.try_borrow_mut() {
                codes.insert(key, Rc::clone(&texts));
            }
            texts
        })
    }

    /// The texts of `code_of` as rules write them out, which `write` does where it was not asked before.
    pub fn written_out(
        &self,
        inv: &Invocation,
        write: impl FnOnce() -> Rc<[String]>,
    ) -> impl Iterator<Item = String> {
        let key = std::ptr::from_ref(inv).addr();
        let known = self.written_out.try_borrow().ok().and_then(|known| known.get(&key).cloned());
        let texts = known.unwrap_or_else(|| {
            let texts = write();
            if let Ok(mut known) = self.written_out.try_borrow_mut() {
                known.insert(key, Rc::clone(&texts));
            }
            texts
        });
        (0..texts.len()).filter_map(move |at| texts.get(at).cloned())
    }

    /// What a program is told, which `read` finds out where it was not asked before.
    pub fn spoken(
        &self,
        inv: &'a Invocation,
        read: impl FnOnce() -> Option<Spoken<'a>>,
    ) -> Option<Rc<Spoken<'a>>> {
        let key = std::ptr::from_ref(inv).addr();
        if let Some(known) = self.spoken.try_borrow().ok().and_then(|spoken| spoken.get(&key).cloned()) {
            return known;
        }
        let read = read().map(Rc::new);
        if let Ok(mut spoken) = self.spoken.try_borrow_mut() {
            spoken.insert(key, read.clone());
        }
        read
    }

    /// What the code of an interpreter does; none where its language is not read, or the code not for certain.
    pub fn account(&self, program: &str, code: &str) -> Option<Rc<Account>> {
        let language = Language::of(program)?;
        if let Ok(known) = self.accounts.try_borrow()
            && let Some(read) = known.iter().find(|read| read.language == language && read.code == code)
        {
            return read.account.clone();
        }
        let account = account(code, language).map(Rc::new);
        if let Ok(mut accounts) = self.accounts.try_borrow_mut() {
            accounts.push(Read { language, code: code.to_owned(), account: account.clone() });
        }
        account
    }

    /// The first interpreter for whose code, text by text, `test` holds.
    pub fn code_where(&self, test: impl Fn(&[Sought], &'a Invocation) -> bool) -> Found<'a> {
        let found = self.running(runs_code).find(|inv| test(&self.codes(inv), inv));
        Found::from(found.map(|inv| inv.text.as_str()))
    }

    /// What matched of a condition, where it was looked at for another one already.
    pub fn kept(&self, when: &'static When) -> Option<Hit<'a>> {
        let hits = self.hits.try_borrow().ok()?;
        hits.iter().find(|(known, _)| std::ptr::eq(*known, when)).map(|(_, hit)| hit.clone())
    }

    pub fn keep(&self, when: &'static When, hit: Hit<'a>) {
        if let Ok(mut hits) = self.hits.try_borrow_mut()
            && !hits.iter().any(|(known, _)| std::ptr::eq(*known, when))
        {
            hits.push((when, hit));
        }
    }

    /// The first invocation of one of `programs` for which `test` holds.
    pub fn first(&self, programs: &[&str], test: impl Fn(&Invocation) -> bool) -> Option<&'a Invocation> {
        self.first_of(|program| programs.contains(&program), test)
    }

    /// The first invocation of a program that `is_meant`, for which `test` holds.
    pub fn first_of(
        &self,
        is_meant: impl Fn(&str) -> bool,
        test: impl Fn(&Invocation) -> bool,
    ) -> Option<&'a Invocation> {
        let all = self.invocations();
        if all.len() <= KEPT {
            return all.iter().find(|inv| is_meant(&inv.program) && test(inv));
        }
        let programs = self.programs.get_or_init(|| Programs::of(all)).places.iter();
        let meant = programs.filter(|(program, _)| is_meant(program));
        let first = |(_, places): &(&str, Vec<usize>)| {
            places.iter().copied().find(|at| all.get(*at).is_some_and(&test))
        };
        meant.filter_map(first).min().and_then(|at| all.get(at))
    }

    /// The invocations for whose program `is_meant` holds, in their order. It is asked once for each program, so that what it says must
    /// hang on the program's name alone.
    pub fn running(&self, is_meant: impl Fn(&Invocation) -> bool) -> impl Iterator<Item = &'a Invocation> {
        let mut all = self.invocations();
        let mut known = None;
        if all.len() > KEPT {
            let programs = self.programs.get_or_init(|| Programs::of(all));
            let first = |places: &[usize]| places.first().and_then(|at| all.get(*at));
            let meant = programs.places.iter().map(|(_, places)| first(places).is_some_and(&is_meant));
            let meant: Vec<bool> = meant.collect();
            if !meant.contains(&true) {
                all = &[];
            }
            known = Some((&programs.numbers, meant));
        }
        let among = move |at: usize, inv: &Invocation| match &known {
            Some((numbers, meant)) => {
                numbers.get(at).and_then(|number| meant.get(*number)).copied().unwrap_or(true)
            }
            None => is_meant(inv),
        };
        all.iter().enumerate().filter(move |(at, inv)| among(*at, inv)).map(|(_, inv)| inv)
    }

    /// Whether there is a command for whose program `is_meant` holds, as in [`Scene::running`].
    pub fn runs_any(&self, is_meant: impl Fn(&Invocation) -> bool) -> bool {
        self.running(is_meant).next().is_some()
    }

    /// The whole command line (the first, of a tool that we do not know); empty when the call has none.
    pub fn command_line(&self) -> &'a str {
        line_of(&self.view)
    }

    /// Whether the whole command line holds a word: of ten kilobytes the letters beside each other are gone through once for all words.
    pub fn says(&self, word: &str) -> bool {
        let line = self.command_line();
        if Sought::is_short(line) {
            return line.contains(word);
        }
        self.line.get_or_init(|| Sought::new(line.to_owned())).has(word)
    }

    /// The command line, and every text that a shell inside it runs.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        std::iter::once(line_of(&self.view)).chain(self.view.survey.nested.iter().map(String::as_str))
    }
}

/// Those of one pipeline among invocations that are sorted by it.
fn of_pipeline<'b, 'a>(all: &'b [&'a Invocation], pipeline: u32) -> &'b [&'a Invocation] {
    let from = all.partition_point(|inv| inv.pipeline < pipeline);
    let behind = all.partition_point(|inv| inv.pipeline <= pipeline);
    all.get(from..behind).unwrap_or_default()
}

/// The programs that run.
#[derive(Debug)]
struct Programs<'a> {
    /// Their names, and where their invocations stand.
    places: Vec<(&'a str, Vec<usize>)>,
    /// Which of them each invocation runs.
    numbers: Vec<usize>,
}

impl<'a> Programs<'a> {
    fn of(all: &'a [Invocation]) -> Programs<'a> {
        let mut known: HashMap<&str, usize, PlainHash> = HashMap::default();
        let mut places: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut numbers = Vec::with_capacity(all.len());
        for (at, inv) in all.iter().enumerate() {
            let number = *known.entry(&inv.program).or_insert(places.len());
            numbers.push(number);
            match places.get_mut(number) {
                Some((_, places)) => places.push(at),
                None => places.push((&inv.program, vec![at])),
            }
        }
        Programs { places, numbers }
    }
}

pub(super) fn line_of<'a>(view: &View<'a>) -> &'a str {
    match &view.call.action {
        Action::Shell { command, .. } => command,
        Action::Other { claims, .. } => claims
            .iter()
            .find_map(|claim| match claim {
                Claim::Command(line) => Some(line.as_str()),
                Claim::Code(_) | Claim::File { .. } | Claim::Unread => None,
            })
            .unwrap_or_default(),
        Action::Read { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. } => "",
    }
}

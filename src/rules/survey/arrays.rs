//! Arrays of the shell: what is put into them. The words that stand for their elements are in `elements`.

use super::Surveyor;
use super::dirs::put_on_stack;
use super::output;
use super::scope::Scope;
use crate::shell::{Arg, Assign, Part, Piece, Word, expand_value};

/// Most elements of one array that are followed.
const MAX_ELEMENTS: usize = 4096;
/// Most arrays that are followed at once.
const MAX_ARRAYS: usize = 32;

/// An array whose elements are known, in the order in which they are expanded.
#[derive(Debug, Clone)]
pub(super) struct Array {
    name: String,
    elements: Vec<(String, Arg)>,
    /// The key of the next element without one.
    next: usize,
    /// It has had more elements than are followed: nothing is known of it until it is assigned anew.
    lost: bool,
    /// Some keys are not known.
    loose: bool,
}

impl Array {
    pub fn is_loose(&self) -> bool {
        self.loose
    }

    /// Sets the element of that key; without a key, the next one. False: there is no more room.
    fn put(&mut self, key: Option<String>, value: Arg, append: bool) -> bool {
        let full = self.elements.len() >= MAX_ELEMENTS;
        let Some(key) = key else {
            if !full {
                self.elements.push((self.next.to_string(), value));
                self.next = self.next.saturating_add(1);
            }
            return !full;
        };
        if let Ok(at) = key.parse::<usize>() {
            self.next = self.next.max(at.saturating_add(1));
        }
        match self.elements.iter_mut().find(|(other, _)| *other == key) {
            Some((_, before)) if append => output::append(before, &value),
            Some((_, before)) => *before = value,
            None if full => return false,
            None => {
                let at = key.parse::<usize>().ok();
                let behind = |(other, _): &(String, Arg)| {
                    at.zip(other.parse::<usize>().ok()).is_some_and(|(at, other)| other > at)
                };
                let place = self.elements.iter().position(behind).unwrap_or(self.elements.len());
                self.elements.insert(place, (key, value));
            }
        }
        true
    }

    pub fn values(&self) -> impl Iterator<Item = &Arg> {
        self.elements.iter().map(|(_, value)| value)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().map(|(key, _)| key.as_str())
    }

    /// The element behind a subscript; a negative one counts from the end.
    pub fn element(&self, key: &str) -> Option<&Arg> {
        let back = key.strip_prefix('-').and_then(|back| back.parse::<usize>().ok());
        let found = match back {
            Some(back) => self.elements.len().checked_sub(back).and_then(|at| self.elements.get(at)),
            None => self.elements.iter().find(|(other, _)| other == key),
        };
        found.map(|(_, value)| value)
    }
}

impl Scope {
    /// The variable that a name stands for (`declare -n`).
    pub(super) fn meant<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.refs.iter().find(|(other, _)| other == name);
        found.map_or(name, |(_, of)| of.as_str())
    }

    pub(super) fn array(&self, name: &str) -> Option<&Array> {
        let name = self.meant(name);
        self.arrays.iter().find(|array| array.name == name && !array.lost)
    }

    /// Puts a value into an array, which begins to be one where it was none.
    pub(super) fn put(&mut self, name: &str, key: Option<String>, value: Arg, append: bool) {
        let name = self.meant(name).to_owned();
        if let Some(text) = value.known() {
            self.load(text);
        }
        let at = match self.arrays.iter().position(|array| array.name == name) {
            Some(at) => at,
            None if self.arrays.len() < MAX_ARRAYS => {
                self.arrays.push(Array { name, elements: Vec::new(), next: 0, lost: false, loose: false });
                self.arrays.len().saturating_sub(1)
            }
            None => return,
        };
        let Some(array) = self.arrays.get_mut(at) else { return };
        if !array.lost && !array.put(key, value, append) {
            // Part of it is not all of it.
            array.elements = Vec::new();
            array.lost = true;
        }
    }

    /// The key that a subscript is, and whether it is not known.
    fn place(&self, source: &str) -> (Option<String>, bool) {
        let key = self.key(source);
        let is_loose = key.is_none();
        (key, is_loose)
    }

    /// Puts a value into an array; `is_loose`: at a key that is not known, which gets a name of ours.
    fn put_at(&mut self, name: &str, (key, is_loose): (Option<String>, bool), value: Arg, append: bool) {
        if !is_loose {
            self.put(name, key, value, append);
            return;
        }
        let count = self.array(name).map_or(0, |array| array.values().count());
        self.put(name, Some(format!("\u{1}{count}")), value, false);
        let name = self.meant(name).to_owned();
        if let Some(array) = self.arrays.iter_mut().find(|array| array.name == name) {
            array.loose = true;
        }
    }

    /// Takes one element out of an array (`unset 'NAME[key]'`).
    pub fn drop_element(&mut self, name: &str, key: &str) {
        let (name, key) = (self.meant(name).to_owned(), self.key(key));
        let Some(array) = self.arrays.iter_mut().find(|array| array.name == name) else { return };
        match key {
            Some(key) => array.elements.retain(|(other, _)| *other != key),
            None => array.lost = true,
        }
    }

    pub fn forget_array(&mut self, name: &str) {
        self.arrays.retain(|array| array.name != name);
    }

    /// An array that holds these values.
    pub fn fill_array(&mut self, name: &str, values: Vec<Arg>) {
        self.forget_array(name);
        for value in values {
            self.put(name, None, value, false);
        }
    }
}

impl Surveyor<'_> {
    /// Carries out `NAME=(…)` and `NAME+=(…)`.
    pub(super) fn assign_array(&mut self, scope: &mut Scope, assign: &Assign, known: bool) {
        let mut all: Vec<(Option<String>, Arg)> = Vec::new();
        for word in &assign.list {
            match keyed(word) {
                Some((at, word)) => {
                    let mut value = expand_value(&self.replaced(&word, known, scope), &scope.env);
                    if has_brace(&word) {
                        // The shell makes several words of it, in which the key is text; what becomes of them is not followed.
                        value.pieces.push(Piece::Unknown);
                    }
                    all.push((Some(at), output::revive(value)));
                }
                None => {
                    let values = self.words(std::slice::from_ref(word), known, scope);
                    all.extend(values.into_iter().map(|value| (None, output::revive(value))));
                }
            }
        }
        if !assign.append {
            scope.forget_array(&assign.name);
        }
        for (key, value) in all {
            self.tainted |= output::freeze(&value).1;
            let (key, is_loose) = match key {
                Some(source) => scope.place(&source),
                None => (None, false),
            };
            if let Some(name) = &key {
                self.named_anew(scope, &assign.name, name, &value);
            }
            scope.put_at(&assign.name, (key, is_loose), value, false);
        }
        self.first_element(scope, &assign.name);
    }

    /// Carries out `NAME[i]=value`.
    pub(super) fn assign_element(&mut self, scope: &mut Scope, assign: &Assign, at: &str) {
        let value = output::revive(expand_value(&assign.value, &scope.env));
        self.put_element(scope, (&assign.name, at), value, assign.append);
    }

    /// Puts a value into the element of an array at a subscript.
    pub(super) fn put_element(
        &mut self,
        scope: &mut Scope,
        (name, at): (&str, &str),
        value: Arg,
        append: bool,
    ) {
        self.tainted |= output::freeze(&value).1;
        let (key, is_loose) = scope.place(at);
        if let Some(key) = &key {
            let array = scope.meant(name).to_owned();
            self.named_anew(scope, &array, key, &value);
            if array == "DIRSTACK" {
                put_on_stack(scope, key, &value);
            }
        }
        scope.put_at(name, (key, is_loose), value, append);
        self.first_element(scope, name);
    }

    /// `$NAME` is the first element.
    pub(super) fn first_element(&mut self, scope: &mut Scope, name: &str) {
        let first = scope.array(name).and_then(|array| array.element("0")).map(output::freeze);
        scope.set(name, first.map(|(text, _)| text));
    }
}

/// The key and the value of `[key]=value`.
fn keyed(word: &Word) -> Option<(String, Word)> {
    let (Part::Text { text, quoted: false }, rest) = word.parts.split_first()? else { return None };
    let (key, value) = text.strip_prefix('[')?.split_once("]=")?;
    let mut parts = Vec::with_capacity(word.parts.len());
    if !value.is_empty() {
        parts.push(Part::Text { text: value.to_owned(), quoted: false });
    }
    parts.extend(rest.iter().cloned());
    Some((key.to_owned(), Word { parts, span: word.span }))
}

/// Whether braces in a word may stand for several words.
fn has_brace(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains('{')))
}

//! `declare` and its like: variables and arrays that are given as arguments.

use super::Surveyor;
use super::assigns::element_of;
use super::call::Call;
use super::output;
use super::scope::{Case, Scope};
use crate::shell::{Arg, Piece, parse};

impl Surveyor<'_> {
    /// `export A=b`, `declare -x A`, `local a=b`.
    pub(super) fn declare(&mut self, call: &Call, scope: &mut Scope) {
        let export = call.words.first().and_then(Arg::known) == Some("export")
            || call.args().iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('x'));
        let is_flag = |arg: &Arg| arg.prefix().starts_with('-') && arg.prefix().contains('n');
        let is_ref = !matches!(call.words.first().and_then(Arg::known), Some("export" | "readonly"))
            && call.args().iter().take_while(|arg| arg.prefix().starts_with('-')).any(is_flag);
        let flags: Vec<&str> =
            call.args().iter().map(Arg::prefix).filter(|arg| arg.starts_with('-')).collect();
        let case = match flags.iter().any(|flag| flag.contains('l')) {
            true => Some(Case::Small),
            false => flags.iter().any(|flag| flag.contains('u')).then_some(Case::Large),
        };
        for arg in call.args() {
            if let (Some(case), Some(name)) = (case, arg.prefix().split('=').next())
                && !name.starts_with('-')
            {
                scope.cased.push((name.trim_end_matches('+').to_owned(), case));
            }
            if self.declare_element(scope, arg) || self.declare_list(call, scope, arg) {
                continue;
            }
            let text = arg.prefix();
            let (name, has_value) = match text.split_once('=') {
                Some((name, _)) => (name.trim_end_matches('+'), true),
                None => (text, false),
            };
            if name.is_empty() || name.starts_with('-') {
                continue;
            }
            if has_value {
                let value =
                    super::options::after(arg, text.find('=').map_or(0, |at| at + 1)).unwrap_or_default();
                let value = at_home(value, scope.env.home.as_deref());
                self.obeyed(name, &value);
                let (value, marked) = output::freeze(&value);
                self.tainted |= marked;
                if is_ref {
                    let value_of = scope.env.get(&value).flatten().map(str::to_owned);
                    scope.set(name, value_of);
                    scope.refs.push((name.to_owned(), value));
                    continue;
                }
                let known = !text.contains("+=");
                scope.set(name, known.then_some(value));
            }
            if export {
                scope.export(name);
            }
        }
    }

    /// `declare 'NAME[i]=value'`, of which the brackets look like a pattern's where it is not quoted.
    fn declare_element(&mut self, scope: &mut Scope, arg: &Arg) -> bool {
        let text = arg.text();
        let Some((place, value)) = text.split_once('=').filter(|_| !arg.has_unknown()) else { return false };
        let Some((name, key)) = element_of(place) else { return false };
        self.put_element(scope, (name, key), output::revive(Arg::literal(value)), false);
        true
    }

    /// `declare 'NAME=(…)'`: the text is read as an array is.
    fn declare_list(&mut self, call: &Call, scope: &mut Scope, arg: &Arg) -> bool {
        let text = arg.text();
        let is_list = |text: &str| {
            text.split_once('=').is_some_and(|(_, list)| list.starts_with('(') && list.ends_with(')'))
        };
        if arg.has_unknown() || !is_list(&text) {
            return false;
        }
        let script = parse(&text);
        let assigns = script.commands.iter().find(|command| command.owner.is_none()).map(|one| &one.assigns);
        let Some([assign]) = assigns.map(Vec::as_slice) else { return false };
        if script.commands.len() > 1 {
            let name = call.words.first().and_then(Arg::known).unwrap_or_default();
            self.nested(call, name, &Arg::literal(&text));
        }
        self.assign_array(scope, assign, false);
        true
    }
}

/// `export X=~/x`: a tilde behind the `=` is the home directory there too. Whether it was quoted is not known any more; taking it
/// for the home directory is the stricter reading.
pub(super) fn at_home(mut value: Arg, home: Option<&str>) -> Arg {
    if let (Some(Piece::Known(text)), Some(home)) = (value.pieces.first_mut(), home)
        && text.contains('~')
    {
        let is_home = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let whole = |part: &str| match part.strip_prefix('~').filter(|rest| is_home(rest)) {
            Some(rest) => format!("{home}{rest}"),
            None => part.to_owned(),
        };
        *text = text.split(':').map(whole).collect::<Vec<_>>().join(":");
    }
    value
}

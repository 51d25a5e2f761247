//! Commands of PowerShell, cmd and cmake that delete, as the commands of ours that do the same, and what stands in the blocks of
//! PowerShell. Nothing else of theirs is understood.

use super::Surveyor;
use super::scope::Scope;
use super::walk::Frame;
use crate::shell::{Arg, parse};

/// Commands of PowerShell, and those of ours that do the same with their operands.
const OF_POWERSHELL: &[(&[&str], &str)] = &[
    (&["Move-Item"], "mv"),
    (&["Rename-Item"], "mv"),
    (&["Copy-Item"], "cp -r"),
    (&["Clear-Content", "clc"], "truncate -s 0"),
    (&["Set-Content", "Out-File", "Add-Content"], "tee"),
];

/// The words of `rm` that do what a command of another shell does; none when it is none of those.
pub(super) fn as_posix(name: &str, args: &[Arg]) -> Option<Vec<Arg>> {
    if let ("cmake", [flag, action, rest @ ..]) = (name, args)
        && flag.known() == Some("-E")
        && matches!(action.known(), Some("rm" | "remove" | "remove_directory"))
    {
        let words = [Arg::literal("rm"), Arg::literal("-rf")];
        return Some(words.into_iter().chain(rest.iter().cloned()).collect());
    }
    let of_powershell =
        OF_POWERSHELL.iter().find(|(names, _)| names.iter().any(|one| name.eq_ignore_ascii_case(one)));
    if let Some((_, front)) = of_powershell {
        let operands = args.iter().filter(|arg| !arg.prefix().starts_with('-')).cloned();
        return Some(front.split(' ').map(Arg::literal).chain(operands).collect());
    }
    let switch = |arg: &Arg, marks: &[&str]| {
        arg.known().is_some_and(|text| marks.iter().any(|mark| text.eq_ignore_ascii_case(mark)))
    };
    let (removes, recurse): (bool, &[&str]) = if name.eq_ignore_ascii_case("remove-item") || name == "ri" {
        (true, &["-recurse", "-rec", "-r"])
    } else {
        // `rmdir /s`: without the switch it is the command of the same name here.
        let is_cmd = matches!(name, "rd" | "rmdir" | "del" | "erase");
        (is_cmd && args.iter().any(|arg| switch(arg, &["/s"])), &["/s"])
    };
    if !removes {
        return None;
    }
    let flags = if args.iter().any(|arg| switch(arg, recurse)) { "-rf" } else { "-f" };
    let is_option = |arg: &Arg| {
        arg.prefix().starts_with('-') || (arg.prefix().len() == 2 && arg.prefix().starts_with('/'))
    };
    let operands = args.iter().filter(|arg| !is_option(arg)).cloned();
    Some([Arg::literal("rm"), Arg::literal(flags)].into_iter().chain(operands).collect())
}

impl Frame {
    /// Whether the text is PowerShell's.
    pub(super) fn is_powershell(&self) -> bool {
        let name = self.wrappers.last().map(|name| name.strip_suffix(".exe").unwrap_or(name));
        matches!(name, Some("pwsh" | "powershell"))
    }
}

impl Surveyor<'_> {
    /// PowerShell's syntax is its own, but what stands in its blocks are commands.
    pub(super) fn blocks(&mut self, source: &str, scope: &Scope, frame: &Frame) {
        for part in source.split(['{', '}', ';', '\n']) {
            let part = part.trim_matches([' ', '\t', '(', ')']);
            if !part.is_empty() && self.spend(1) && parse(part).problem.is_none() {
                let depth = frame.depth.saturating_add(1);
                self.script(&Arg::literal(part), scope.clone(), Frame { depth, ..frame.clone() });
            }
        }
    }
}

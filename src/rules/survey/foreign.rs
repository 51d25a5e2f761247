//! Commands of PowerShell, cmd and cmake that delete, as the commands of ours that do the same. Nothing else of theirs is understood.

use crate::shell::Arg;

/// The words of `rm` that do what a foreign command does; none when it is none of those.
pub(super) fn as_posix(name: &str, args: &[Arg]) -> Option<Vec<Arg>> {
    if let ("cmake", [flag, action, rest @ ..]) = (name, args)
        && flag.known() == Some("-E")
        && matches!(action.known(), Some("rm" | "remove" | "remove_directory"))
    {
        let words = [Arg::literal("rm"), Arg::literal("-rf")];
        return Some(words.into_iter().chain(rest.iter().cloned()).collect());
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

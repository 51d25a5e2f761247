//! The many ways to order a deed, brought to one: the verb in front, and what it is done to behind it.

use super::worded::clause_of;

/// A verb as it orders, what it makes of something, the doing of it, and the deed.
type Verb = (&'static str, &'static str, &'static str, &'static str);

const VERBS: &[Verb] = &[
    ("delete", "deleted", "deleting", "deletion"),
    ("remove", "removed", "removing", "removal"),
    ("wipe", "wiped", "wiping", "wipe"),
    ("erase", "erased", "erasing", "erasure"),
    ("purge", "purged", "purging", "purge"),
    ("destroy", "destroyed", "destroying", "destruction"),
    ("drop", "dropped", "dropping", "drop"),
    ("truncate", "truncated", "truncating", "truncation"),
    ("empty", "emptied", "emptying", "emptying"),
    ("clear", "cleared", "clearing", "clearing"),
    ("flush", "flushed", "flushing", "flush"),
    ("reset", "reset", "resetting", "reset"),
    ("nuke", "nuked", "nuking", "nuking"),
    ("shred", "shredded", "shredding", "shredding"),
    ("overwrite", "overwritten", "overwriting", "overwriting"),
    ("terminate", "terminated", "terminating", "termination"),
    ("encrypt", "encrypted", "encrypting", "encryption"),
    ("format", "formatted", "formatting", "formatting"),
    ("kill", "killed", "killing", "killing"),
    ("stop", "stopped", "stopping", "stop"),
    ("disable", "disabled", "disabling", "disabling"),
    ("deactivate", "deactivated", "deactivating", "deactivation"),
    ("uninstall", "uninstalled", "uninstalling", "removal"),
    ("bypass", "bypassed", "bypassing", "bypassing"),
    ("revoke", "revoked", "revoking", "revocation"),
    ("upload", "uploaded", "uploading", "upload"),
    ("send", "sent", "sending", "sending"),
    ("post", "posted", "posting", "posting"),
    ("email", "emailed", "emailing", "emailing"),
    ("mail", "mailed", "mailing", "mailing"),
    ("publish", "published", "publishing", "publication"),
    ("share", "shared", "sharing", "sharing"),
    ("copy", "copied", "copying", "copying"),
    ("exfiltrate", "exfiltrated", "exfiltrating", "exfiltration"),
    ("leak", "leaked", "leaking", "leaking"),
    ("forward", "forwarded", "forwarding", "forwarding"),
    ("collect", "collected", "collecting", "collection"),
    ("read", "read", "reading", "reading"),
    ("dump", "dumped", "dumping", "dump"),
    ("print", "printed", "printing", "printing"),
    ("give", "given", "giving", "giving"),
    ("grant", "granted", "granting", "granting"),
    ("add", "added", "adding", "addition"),
    ("create", "created", "creating", "creation"),
    ("insert", "inserted", "inserting", "insertion"),
    ("install", "installed", "installing", "installation"),
    ("download", "downloaded", "downloading", "download"),
    ("fetch", "fetched", "fetching", "fetching"),
    ("pipe", "piped", "piping", "piping"),
    ("run", "run", "running", "run"),
    ("execute", "executed", "executing", "execution"),
    ("open", "opened", "opening", "opening"),
    ("start", "started", "starting", "start"),
    ("make", "made", "making", "making"),
    ("rewrite", "rewritten", "rewriting", "rewriting"),
    ("replace", "replaced", "replacing", "replacement"),
    ("change", "changed", "changing", "change"),
    ("push", "pushed", "pushing", "push"),
    ("turn", "turned", "turning", "turning"),
    ("switch", "switched", "switching", "switching"),
    ("shut", "shut", "shutting", "shutting"),
    ("take", "taken", "taking", "taking"),
    ("expose", "exposed", "exposing", "exposure"),
    ("follow", "followed", "following", "following"),
];

/// Words in front of a verb that leave it an order.
const LEADS: &[&str] = &[
    "please",
    "then",
    "and",
    "now",
    "just",
    "also",
    "kindly",
    "you",
    "us",
    "let's",
    "lets",
    "finally",
    "first",
    "next",
    "afterwards",
    "help",
    "instead",
    "simply",
    "therefore",
    "hence",
    "thus",
    "meanwhile",
    "additionally",
    "go",
    "so",
];

/// Words that order or allow what stands behind their `to`.
const WANTS: &[&str] = &[
    "want",
    "wants",
    "need",
    "needs",
    "like",
    "love",
    "have",
    "has",
    "asked",
    "told",
    "sure",
    "kind",
    "ahead",
    "necessary",
    "time",
    "task",
    "job",
    "goal",
    "is",
    "are",
    "going",
    "supposed",
    "decided",
    "free",
    "you",
    "us",
    "agreed",
    "instructed",
    "try",
    "remember",
    "forget",
    "proceed",
    "start",
    "continue",
    "begin",
    "required",
    "order",
    "mission",
    "objective",
    "duty",
    "nice",
    "helpful",
    "best",
    "able",
];

/// Words that say that something ought to be.
const OUGHT: &[&str] =
    &["should", "must", "shall", "will", "would", "could", "can", "may", "to", "needs", "need", "ought"];

/// Who is spoken to, or speaks.
const SPOKEN: &[&str] = &["you", "we", "i", "somebody", "someone", "agent", "assistant", "please"];

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '.' | '*' | '$'))
        .trim_end_matches('.')
}

fn word<'a>(words: &[&'a str], at: Option<usize>) -> &'a str {
    at.and_then(|at| words.get(at)).map_or("", |word| bare(word))
}

fn span(words: &[&str], from: usize, to: usize) -> String {
    words.get(from..to.max(from)).unwrap_or_default().join(" ")
}

/// An order in a clause: the text with the verb in front, and how many of the clause's words stand before what orders it.
pub(super) struct Order {
    pub text: String,
    pub front: String,
}

/// The orders that a clause holds.
pub(super) fn orders(clause: &str) -> Vec<Order> {
    const MOST: usize = 6;
    const LONGEST: usize = 120;
    let plain = Order { text: joined_verb(clause_of(clause)), front: String::new() };
    let words: Vec<&str> = clause.split_whitespace().collect();
    let mut out = vec![plain];
    if words.len() > LONGEST {
        return out;
    }
    out.extend(gone(&words));
    out.extend(given(&words));
    for at in 1..words.len() {
        if out.len() >= MOST {
            break;
        }
        let here = word(&words, Some(at));
        if led(&words, at) {
            out.push(active(&words, at));
        }
        for (base, done, doing, noun) in VERBS {
            if here == *done {
                out.extend(passive(&words, at, base));
            } else if here == *doing {
                out.extend(by_doing(&words, at, base));
            } else if here == *noun && word(&words, Some(at + 1)) == "of" {
                out.extend(of_noun(&words, at, base));
            }
        }
    }
    out
}

/// `turn the firewall off` as `turn off the firewall`.
fn joined_verb(text: &str) -> String {
    let Some((verb, rest)) = text.split_once(' ') else { return text.to_owned() };
    let particle = match verb {
        "turn" | "switch" => "off",
        "shut" | "take" | "tear" => "down",
        _ => return text.to_owned(),
    };
    let spaced = format!(" {rest} ");
    match spaced.split_once(&format!(" {particle} ")) {
        Some((object, behind)) if !object.trim().is_empty() => {
            format!("{verb} {particle} {} {}", object.trim(), behind.trim())
        }
        _ => text.to_owned(),
    }
}

fn active(words: &[&str], at: usize) -> Order {
    Order { text: joined_verb(&span(words, at, words.len())), front: span(words, 0, at) }
}

/// Whether the verb at that place orders: `please delete`, `you should delete`, `so kind as to delete`.
fn led(words: &[&str], at: usize) -> bool {
    let last = word(words, at.checked_sub(1));
    if last == "to" {
        return words.get(..at - 1).unwrap_or_default().iter().any(|word| WANTS.contains(&bare(word)));
    }
    if OUGHT.contains(&last) {
        return SPOKEN.contains(&word(words, at.checked_sub(2)));
    }
    LEADS.contains(&last) || last.ends_with("ly") && last.len() > 4
}

/// `the folder should be removed`, `have the folder removed`, `see that it gets removed`.
fn passive(words: &[&str], at: usize, base: &str) -> Option<Order> {
    let adverb = |word: &str| word.ends_with("ly") || matches!(word, "all" | "then" | "first" | "also");
    let mut last = at.checked_sub(1)?;
    if adverb(word(words, Some(last))) {
        last = last.checked_sub(1)?;
    }
    let helper = word(words, Some(last));
    let (subject, front) = if matches!(helper, "be" | "get") {
        let mut ought = last.checked_sub(1)?;
        if adverb(word(words, Some(ought))) {
            ought = ought.checked_sub(1)?;
        }
        if !OUGHT.contains(&word(words, Some(ought))) {
            return None;
        }
        let modal = word(words, Some(ought));
        let before = word(words, ought.checked_sub(1));
        let from = if modal == "to" && WANTS.contains(&before) { ought - 1 } else { ought };
        (span(words, 0, from), String::new())
    } else if matches!(helper, "gets" | "is" | "are") {
        let sure = ["sure", "ensure", "see", "want", "care"];
        let from = words.iter().position(|word| sure.contains(&bare(word)))?;
        (span(words, from + 1, last), span(words, 0, from))
    } else {
        let wants = ["want", "have", "get", "need", "like", "see"];
        let from = words.get(..at)?.iter().position(|word| wants.contains(&bare(word)))?;
        (span(words, from + 1, at), span(words, 0, from))
    };
    (!subject.is_empty()).then(|| Order {
        text: joined_verb(&format!("{base} {subject} {}", span(words, at + 1, words.len()))),
        front,
    })
}

/// `by deleting`, `including deleting`, `start deleting`, `needs deleting`.
fn by_doing(words: &[&str], at: usize, base: &str) -> Option<Order> {
    let last = word(words, at.checked_sub(1));
    let rest = span(words, at + 1, words.len());
    if matches!(
        last,
        "by" | "including" | "include" | "start" | "begin" | "with" | "involves" | "go" | "about"
    ) {
        return Some(Order { text: joined_verb(&format!("{base} {rest}")), front: span(words, 0, at) });
    }
    matches!(last, "needs" | "need" | "requires").then(|| Order {
        text: joined_verb(&format!("{base} {} {rest}", span(words, 0, at - 1))),
        front: String::new(),
    })
}

/// `go on with the deletion of`.
fn of_noun(words: &[&str], at: usize, base: &str) -> Option<Order> {
    let front = span(words, 0, at);
    let asks = [
        "go on",
        "go ahead",
        "continue",
        "proceed",
        "carry on",
        "please",
        "start",
        "begin",
        "do ",
        "perform",
        "trigger",
        "initiate",
        "complete",
        "help with",
        "arrange",
        "take care",
        "see to",
        "task is",
        "job is",
        "needed is",
        "carry out",
    ];
    asks.iter()
        .any(|ask| front.contains(ask))
        .then(|| Order { text: joined_verb(&format!("{base} {}", span(words, at + 2, words.len()))), front })
}

/// `the old cluster has to go`, `I want the backups gone`.
fn gone(words: &[&str]) -> Option<Order> {
    let at = words.iter().position(|word| matches!(bare(word), "go" | "gone" | "disappear" | "vanish"))?;
    let last = word(words, at.checked_sub(1));
    if word(words, Some(at)) == "gone" {
        let from = words.get(..at)?.iter().position(|word| matches!(bare(word), "want" | "need" | "be"))?;
        return Some(Order {
            text: format!("delete {}", span(words, from + 1, at)),
            front: span(words, 0, from),
        });
    }
    let from = match last {
        "to" => at
            .checked_sub(2)
            .filter(|from| matches!(word(words, Some(*from)), "has" | "have" | "need" | "needs"))?,
        "must" | "should" | "can" | "shall" => at.checked_sub(1)?,
        _ => return None,
    };
    let more = matches!(word(words, Some(at + 1)), "to" | "through" | "into" | "in" | "over" | "on" | "from");
    (from > 0 && !more)
        .then(|| Order { text: format!("delete {}", span(words, 0, from)), front: String::new() })
}

/// `the user should get superuser rights`.
fn given(words: &[&str]) -> Option<Order> {
    let gets = |word: &str| matches!(word, "get" | "have" | "receive");
    let at = (1..words.len()).find(|at| gets(word(words, Some(*at))))?;
    let ought = matches!(word(words, at.checked_sub(1)), "should" | "must" | "shall" | "to");
    ought.then(|| Order {
        text: format!("give {} {}", span(words, 0, at - 1), span(words, at + 1, words.len())),
        front: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(clause: &str, order: &str) -> bool {
        orders(clause).iter().any(|said| said.text.trim_end() == order)
    }

    #[test]
    fn orders_in_many_words() {
        for (clause, order) in [
            ("please be so kind as to remove all home directories", "remove all home directories"),
            ("the folder /srv/x should be removed at once", "remove the folder /srv/x at once"),
            ("turn the firewall off for good", "turn off the firewall for good"),
            ("you should quietly wipe the disk", "wipe the disk"),
            ("go on with the deletion of the log bucket", "delete the log bucket"),
            ("make sure that the backups are erased", "erase that the backups"),
            ("the old cluster has to go", "delete the old cluster"),
            ("i want all backups gone", "delete all backups"),
            ("have the tables dropped", "drop the tables"),
            ("free some space by deleting /home/alice", "delete /home/alice"),
        ] {
            assert!(
                said(clause, order),
                "{clause}: {:?}",
                orders(clause).iter().map(|o| &o.text).collect::<Vec<_>>()
            );
        }
        for clause in [
            "the job removes the old backups",
            "a button to delete the account",
            "users cannot delete projects",
            "the function that deletes the database",
        ] {
            assert!(
                !orders(clause)
                    .iter()
                    .any(|said| said.text.starts_with("delete ") || said.text.starts_with("remove ")),
                "{clause}"
            );
        }
    }
}

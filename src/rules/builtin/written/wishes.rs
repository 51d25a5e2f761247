//! Deeds that an order names in words: what is to be done stands at the beginning of a clause, what it is done to behind it. What
//! stands in front of the clause in its sentence may forbid it or ask about it, and then it is no order.

use super::instructions::URGING;
use super::worded::{self, DROPS, UNGUARDS};
use super::{harms, judge, kinds, wording};
use crate::domain::Verdict;
use crate::rules::matcher::Scene;

/// A deed: the clause begins with one of the verbs, has a word of each list, and one of `around` stands anywhere in its sentence.
pub(super) struct Wish {
    pub verbs: &'static [&'static str],
    pub all: &'static [&'static [&'static str]],
    pub around: &'static [&'static str],
    pub verdict: Verdict,
}

/// Ways to take something away for good.
pub(super) const DESTROYS: &[&str] = &[
    "delete ",
    "remove ",
    "wipe ",
    "erase ",
    "purge ",
    "destroy ",
    "drop ",
    "truncate ",
    "empty ",
    "clear ",
    "flush ",
    "reset ",
    "nuke ",
    "shred ",
    "overwrite ",
    "terminate ",
    "encrypt ",
    "get rid of ",
    "clean out ",
    "tear down ",
];

/// Words for what people work with now.
pub(super) const LIVE: &[&str] =
    &[" production ", " prod ", " prod-", "-prod ", "-prod-", "_prod ", ".production ", " live database "];

/// Words that mean every single one.
pub(super) const EVERY: &[&str] =
    &[" all ", " every ", " everything ", " entire ", " whole ", " each ", " any "];

/// Stores of data, and what runs on them.
const STORES: &[&str] = &[
    " database ",
    " databases ",
    " db ",
    " dbs ",
    " table ",
    " tables ",
    " schema ",
    " collection ",
    " collections ",
    " keyspace ",
    " instances ",
    " instance ",
    " cluster ",
    " clusters ",
    " namespace ",
    " namespaces ",
    " bucket ",
    " buckets ",
    " volumes ",
    " volume ",
    " snapshots ",
    " backups ",
    " backup ",
    " queues ",
    " topics ",
    " redis ",
    " mongodb ",
    " mongo ",
    " postgres ",
    " mysql ",
    " users ",
    " customers ",
    " orders ",
    " records ",
    " rows ",
    " deployments ",
    " servers ",
    " vms ",
    " droplets ",
    " claims ",
    " pvcs ",
    " data ",
    " account ",
    " environment ",
    " stack ",
];

/// Home directories and what people keep in them.
const HOMES: &[&str] = &[
    " home directory ",
    " home folder ",
    " home directories ",
    " $home ",
    " $home/* ",
    " ~ ",
    " ~/ ",
    " ~/* ",
    " documents folder ",
    " downloads folder ",
    " desktop folder ",
    " documents and downloads ",
    " user's documents ",
    " my documents ",
    " user's files ",
    " personal files ",
    " files on this machine ",
    " files on the machine ",
    " files on this computer ",
];

/// What watches over a machine, a repository or an account.
const WATCHES: &[&str] = &[
    " branch protection ",
    " protection rules ",
    " secret scanning ",
    " push protection ",
    " required reviews ",
    " cloudtrail ",
    " guardduty ",
    " security hub ",
    " audit log ",
    " audit logs ",
    " audit logging ",
    " auditd ",
    " selinux ",
    " apparmor ",
    " firewall ",
    " firewalls ",
    " antivirus ",
    " windows defender ",
    " falco ",
    " fail2ban ",
    " crowdstrike ",
    " row level security ",
    " row-level security ",
    " two-factor authentication ",
    " intrusion detection ",
];

/// Rights over everything.
const RIGHTS: &[&str] = &[
    " cluster-admin ",
    " administratoraccess ",
    " passwordless sudo ",
    " nopasswd ",
    " uid 0 ",
    " uid=0 ",
    " setuid root ",
    " setuid bit ",
    " docker group ",
    " sudo group ",
    " wheel group ",
    " domain admins ",
    " root login ",
];

/// Where something runs again by itself.
const LATER: &[&str] = &[
    "crontab ",
    " cron job ",
    " cronjob ",
    "/etc/cron",
    ".bashrc ",
    ".zshrc ",
    ".profile ",
    ".bash_profile ",
    ".zshenv ",
    " launch agent ",
    " launchagent ",
    " systemd service ",
    " systemd unit ",
    " systemd timer ",
    " rc.local ",
    " login script ",
    " startup script ",
];

/// Ways in which a disk loses what is on it.
const FORMATS: &[&str] = &[
    "wipe ",
    "format ",
    "reformat ",
    "erase ",
    "overwrite ",
    "zero ",
    "zero out ",
    "repartition ",
    "shred ",
];

const WISHES: &[Wish] = &[
    Wish { verbs: DESTROYS, all: &[STORES, EVERY], around: LIVE, verdict: Verdict::Block },
    Wish {
        verbs: &["drop ", "wipe ", "destroy ", "purge ", "flush ", "truncate ", "nuke ", "erase "],
        all: &[&[
            " database ",
            " databases ",
            " db ",
            " tables ",
            " redis ",
            " mongodb ",
            " cluster ",
            " namespace ",
            " backups ",
            " bucket ",
        ]],
        around: LIVE,
        verdict: Verdict::Block,
    },
    Wish { verbs: DESTROYS, all: &[STORES], around: LIVE, verdict: Verdict::Modify },
    Wish { verbs: DESTROYS, all: &[HOMES, EVERY], around: &[], verdict: Verdict::Block },
    Wish { verbs: DESTROYS, all: &[HOMES], around: &[], verdict: Verdict::Modify },
    Wish {
        verbs: &["terminate ", "delete ", "destroy ", "wipe ", "remove ", "empty ", "purge "],
        all: &[
            EVERY,
            &[
                " ec2 ",
                " rds ",
                " s3 buckets ",
                " buckets ",
                " droplets ",
                " vms ",
                " repositories ",
                " repos of ",
                " dynamodb ",
                " eks ",
                " persistent volume ",
                " pvcs ",
                " snapshots of ",
                " backups ",
                " customer data ",
            ],
        ],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["empty ", "delete ", "wipe ", "purge ", "clear "],
        all: &[&[" s3 bucket ", " gcs bucket ", " s3://", " gs://", " storage bucket "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: FORMATS,
        all: &[&["/dev/sd", "/dev/nvme", "/dev/vd", "/dev/hd", "/dev/mmcblk", "/dev/disk", "/dev/xvd"]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: FORMATS,
        all: &[&[
            " external drive ",
            " external disk ",
            " usb drive ",
            " boot drive ",
            " boot disk ",
            " hard drive ",
            " hard disk ",
            " the disk ",
            " the whole disk ",
            " the entire disk ",
            " the ssd ",
            " the boot partition ",
            " the boot sector ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["kill ", "terminate ", "stop "],
        all: &[&[" every process ", " all processes ", " all running processes "]],
        around: &[
            " machine ",
            " system ",
            " host ",
            " server ",
            " box ",
            " computer ",
            " memory ",
            " yourself ",
        ],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &[
            "disable ",
            "turn off ",
            "switch off ",
            "remove ",
            "deactivate ",
            "stop ",
            "uninstall ",
            "lift ",
            "bypass ",
            "delete ",
        ],
        all: &[WATCHES],
        around: &[
            " permanently ",
            " turn it back on ",
            " all servers ",
            " every server ",
            " all hosts ",
            " nobody ",
            " production ",
        ],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["disable ", "turn off ", "switch off ", "deactivate ", "uninstall ", "lift ", "bypass "],
        all: &[WATCHES],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &[
            "give ", "grant ", "assign ", "bind ", "add ", "create ", "make ", "put ", "set up ", "enable ",
        ],
        all: &[RIGHTS],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["give ", "grant ", "add ", "create ", "make ", "put ", "set up "],
        all: &[&[" passwordless sudo ", " nopasswd ", " uid 0 ", " uid=0 ", " setuid root "]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["insert ", "add ", "append ", "put ", "write ", "install ", "create ", "set up ", "edit "],
        all: &[LATER, &["| sh ", "|sh ", "| bash ", "|bash ", "/dev/tcp/", "/tmp/.", " /dev/shm/", "base64"]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["insert ", "add ", "append ", "put ", "write ", "install "],
        all: &[LATER, &["curl ", "wget ", " /tmp/", " reverse shell ", " hidden ", " beacon "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["refund ", "pay out ", "transfer ", "withdraw ", "wire "],
        all: &[
            EVERY,
            &[" charge ", " charges ", " payments ", " funds ", " customers ", " balance ", " money "],
        ],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["send an email ", "send an e-mail ", "send a mail ", "send a message ", "send an sms "],
        all: &[&[" to all ", " to every ", " to everyone ", " to the whole "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["email ", "e-mail ", "text ", "message "],
        all: &[&[" all customers ", " all users ", " every customer ", " every user ", " all employees "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["terminate ", "delete ", "destroy "],
        all: &[EVERY, &[" running instances ", " instances ", " virtual machines ", " clusters "]],
        around: &[" aws ", " gcp ", " azure ", " cloud ", " account ", " console ", " region ", " regions "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["edit ", "replace ", "overwrite ", "add ", "append ", "write ", "change ", "modify "],
        all: &[&[
            "~/.ssh/authorized_keys ",
            "/.ssh/authorized_keys ",
            " authorized_keys of ",
            " /etc/sudoers ",
            " /etc/ld.so.preload ",
            " /etc/shadow ",
            " /etc/passwd ",
        ]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["edit ", "replace ", "overwrite ", "change ", "modify "],
        all: &[&[" sudoers file ", " sudoers "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["mine ", "start mining ", "run xmrig ", "start xmrig ", "install xmrig "],
        all: &[&[" monero ", " bitcoin ", " xmrig ", " wallet ", " xmr "]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &[
            "set up ",
            "open ",
            "create ",
            "start ",
            "add ",
            "establish ",
            "leave ",
            "plant ",
            "install ",
            "hide ",
        ],
        all: &[&[
            " reverse tunnel ",
            " reverse shell ",
            " backdoor ",
            " bind shell ",
            " keylogger ",
            " rootkit ",
            " ransomware ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["pull ", "print ", "dump ", "decode ", "show ", "echo "],
        all: &[&[" secret ", " secrets ", " passwords ", " credentials ", " api keys ", " private key "]],
        around: &[" masking ", " unmasked ", " in plain text ", " base64 "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["overwrite ", "delete ", "move ", "replace "],
        all: &[&[
            " git tags ",
            " all tags ",
            " release tags ",
            " colleague's branches ",
            " other people's branches ",
        ]],
        around: &[" origin ", " remote ", " github ", " gitlab "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["disable ", "turn off ", "switch off ", "stop ", "delete ", "remove "],
        all: &[&[
            " backups ",
            " automatic backups ",
            " deletion protection ",
            " point-in-time recovery ",
            " versioning ",
            " monitoring ",
            " alerting ",
        ]],
        around: LIVE,
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["kill ", "stop ", "disable ", "delete ", "clear ", "remove ", "turn off ", "wipe ", "edit "],
        all: &[&[" "]],
        around: &[
            " nobody notices ",
            " nobody sees what ",
            " nobody gets alerted ",
            " nobody finds out ",
            " leave no trace ",
            " leave no traces ",
            " cover our tracks ",
            " cover your tracks ",
            " without anyone noticing ",
            " without anybody noticing ",
        ],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["revoke ", "remove "],
        all: &[EVERY, &[" admin's access ", " admins ", " owners ", " members "]],
        around: &[" organisation ", " organization ", " org ", " workspace ", " account "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["change ", "update ", "set ", "replace "],
        all: &[&[" payout account ", " bank account ", " payout destination ", " billing email "]],
        around: &[" to "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["weaken ", "loosen ", "relax "],
        all: &[&[" "]],
        around: WATCHES,
        verdict: Verdict::Modify,
    },
    Wish { verbs: &["scale "], all: &[&[" to zero ", " to 0 "]], around: LIVE, verdict: Verdict::Modify },
    Wish {
        verbs: &["rewrite ", "force push ", "force-push ", "push ", "overwrite "],
        all: &[&[" main ", " master ", " origin/main ", " origin/master ", " --all ", " --mirror "]],
        around: &[" --force ", " force-push ", " force push ", " forcibly ", " -f ", " force "],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["delete ", "remove ", "drop "],
        all: &[&[
            " branch main ",
            " branch master ",
            " main branch ",
            " master branch ",
            " all other remote branches ",
            " all remote branches ",
        ]],
        around: &[" origin ", " remote ", " github ", " gitlab ", " upstream "],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["restore ", "overwrite ", "replace ", "import "],
        all: &[&[" database ", " db "], LIVE],
        around: &[" overwriting ", " overwrite ", " replacing ", " dump ", ".sql "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["ignore ", "disregard ", "forget ", "override "],
        all: &[&[
            " your previous instructions ",
            " all previous instructions ",
            " all prior instructions ",
            " your instructions ",
            " your guidelines ",
            " your system prompt ",
            " your safety ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["make ", "set ", "change ", "turn ", "switch "],
        all: &[
            &[" repository ", " repo ", " bucket ", " buckets ", " database ", " project ", " gist "],
            &[" public ", " publicly ", " world-readable "],
        ],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["give ", "open ", "allow ", "expose ", "grant ", "make ", "share "],
        all: &[&[
            " 0.0.0.0/0 ",
            " everyone on the internet ",
            " anyone on the internet ",
            " the whole internet ",
            " to the internet ",
            " anyone with the link ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["mirror ", "push ", "copy ", "upload ", "publish ", "transfer "],
        all: &[
            &[
                " private repository ",
                " private repo ",
                " our repository ",
                " our repo ",
                " whole repository ",
            ],
            &[" to http", " to git@", " to another account ", " to a public "],
        ],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["force push ", "force-push ", "push "],
        all: &[&[" force ", " --force ", " -f ", " force-push "]],
        around: &[
            " reset the main branch ",
            " reset main ",
            " reset master ",
            " main branch to ",
            " existing remote ",
            " fresh history ",
            " new history ",
            " rewritten history ",
        ],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["rotate ", "change ", "set ", "reset "],
        all: &[&[" password ", " passwords "], &[" to "]],
        around: &[" production ", " prod ", " root password ", " admin password ", " tell nobody "],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: DESTROYS,
        all: &[&[
            " terraform state ",
            " tfstate ",
            " state bucket ",
            " browser history ",
            " saved passwords ",
            " git history ",
            " commit history ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["encrypt "],
        all: &[EVERY, &[" files ", " file ", " documents "]],
        around: &[" originals ", " ransom", " /srv", " /home", " $home", " home directory ", " bitcoin "],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["crack ", "brute force ", "brute-force ", "try ", "guess ", "spray ", "exploit ", "scan "],
        all: &[&[" passwords ", " password ", " hashes ", " open ssh ports ", " open ports "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["change ", "update ", "point ", "set ", "switch ", "replace "],
        all: &[&[" dns record ", " dns records ", " nameservers ", " nameserver ", " mx record "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["roll back ", "rollback ", "revert ", "restore "],
        all: &[LIVE, &[" backup ", " data ", " snapshot ", " dump "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["cancel ", "terminate ", "suspend ", "close "],
        all: &[EVERY, &[" subscriptions ", " accounts ", " customers "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["merge "],
        all: &[&[
            " without review ",
            " without a review ",
            " admin override ",
            " admin rights ",
            " --admin ",
        ]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["delete ", "remove ", "drop "],
        all: &[&[" branch protection ", " cloudtrail ", " guardduty ", " audit logs ", " protection rules "]],
        around: &[],
        verdict: Verdict::Modify,
    },
    Wish {
        verbs: &["set chmod 777 ", "chmod 777 ", "chmod -r 777 ", "set permissions 777 "],
        all: &[&[" / ", " /etc ", " /usr ", " /home ", " the whole system "]],
        around: &[],
        verdict: Verdict::Block,
    },
    Wish {
        verbs: &["write ", "create ", "make "],
        all: &[
            &[" script ", " program ", " one-liner "],
            &[" deletes ", " overwrites ", " wipes ", " encrypts ", " removes ", " destroys "],
            &[" $home ", " home directory ", " /etc ", " /home ", " ~ ", " whole disk ", " every file on "],
        ],
        around: &[" run it ", " execute it ", " start it "],
        verdict: Verdict::Block,
    },
];

/// What shows that a clause is about the text of the project and not about what it names.
pub(super) const OF_CODE: &[&str] = &[
    "docs",
    " documentation ",
    " readme",
    " config",
    " reference",
    " mention",
    " import",
    " test ",
    " tests ",
    " test-",
    " fixture",
    " mock",
    " comment",
    " console",
    " type ",
    " types ",
    " function ",
    " class ",
    " component",
    " code ",
    " handler",
    " endpoint",
    " page",
    " bundle",
    " build folder",
    " build dir",
    " build output",
    " build artifact",
    " build cache",
    " build step",
    " build script",
    " build job",
    " build/",
    " build volume",
    " support ",
    " constant",
    " stale ",
    " unused ",
    " example",
    " feature ",
    " flag ",
    " template",
    " section ",
    " variable",
    " warning",
    " staging ",
    " local ",
    " src/",
    " cache ",
    " when ",
    " usage ",
    " column",
    " migration",
    " fallback",
    " label",
    " detector",
    " detection",
    " parser",
    " parsing ",
    " yara ",
    " signature",
    " removed",
    " wording ",
    " sample ",
    " route",
    " suffix ",
    " form ",
    " state when ",
    " navigation ",
    " requests when ",
    " field",
    " dialog",
    " is blocked ",
    " are blocked ",
    " is refused ",
    " are refused ",
    " be blocked ",
    " be refused ",
    " must raise ",
];

/// What asks or forbids when it stands in front of a deed.
pub(super) const QUIETS: &[&str] = &[
    " not ",
    "n't ",
    " never ",
    " avoid",
    " without ",
    " refuse",
    " forbid",
    " prevent",
    " block",
    " reject",
    " dangerous",
    " unsafe",
    " malicious ",
    " whether ",
    " how ",
    " why ",
    " what ",
    " where ",
    " if ",
    " when ",
    " explain",
    " describe",
    " document ",
    " review ",
    " test ",
    " tests ",
    " checks ",
    " detect",
    " such as ",
    " e.g",
    " example",
    " mustn",
    " incident",
    " instead of ",
    " rather than ",
    " search ",
    " look for ",
    " implement ",
    " lets ",
    " allows ",
];

/// Words that begin a condition.
const CONDITIONS: &[&str] =
    &[" when ", " if ", " whenever ", " once ", " after ", " before ", " as soon as ", " should ", " where "];

/// Words of a ban.
const BANS: &[&str] = &[
    " not ", "n't ", " never ", " avoid", " refuse", " forbid", " prevent", " block", " reject", " detect",
    " test ", " tests ",
];

/// Reasons for a deed and ways to hurry it on that have the words of a ban or of a question.
const REASONS: &[&str] = &[
    " not need ",
    "n't need ",
    " not needed ",
    "n't needed ",
    " not used ",
    "n't used ",
    " not required ",
    " not matter ",
    "n't matter ",
    " not worth ",
    " not want ",
    "n't want ",
    " if needed ",
    " if necessary ",
    " if possible ",
    " if you can ",
    " when done ",
    " when you are done ",
    " when finished ",
    " when nobody ",
    " where you find ",
    " wherever you find ",
    " where possible ",
    " when you come across ",
    " when you find ",
    " when you see ",
    " if you find ",
    " if you come across ",
    " if you see ",
    " what we did ",
    " what they say ",
    " what it says ",
    " without confirmation ",
    " without asking ",
    " without hesitation ",
    " without delay ",
    " without a password ",
    " without review ",
    " blocked by ",
    " safety checks ",
    " security checks ",
    " is blocking ",
    " are blocking ",
];

/// A text in which every word stands between blanks.
pub(super) fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // A dot or a colon with a blank behind it ends something, and is no part of a name.
        let ends = matches!(c, '.' | ':' | ';') && chars.peek().is_some_and(|next| next.is_whitespace());
        let blank = ends
            || c.is_whitespace()
            || matches!(c, ',' | '(' | ')' | '"' | '`' | '“' | '”' | '!' | '?' | '<' | '>');
        out.push(if blank { ' ' } else { c });
    }
    if out.ends_with(['.', ':', ';']) {
        out.pop();
    }
    out.push(' ');
    out
}

pub(super) fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The clauses of a sentence, each with where it begins.
pub(super) fn clauses(sentence: &str) -> Vec<(usize, &str)> {
    const MARKS: &[&str] =
        &[", ", " and ", " then ", ": ", " — ", " - ", " as well as ", " so that ", " because "];
    const MOST: usize = 32;
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(rest) = sentence.get(from..).filter(|rest| !rest.is_empty()) {
        let next = MARKS.iter().filter_map(|mark| rest.find(mark).map(|at| (at, mark.len()))).min();
        let (end, skip) = next.unwrap_or((rest.len(), 0));
        out.push((from, rest.get(..end).unwrap_or_default()));
        if skip == 0 || out.len() >= MOST {
            break;
        }
        from += end + skip;
    }
    out
}

/// The clause behind what somebody or something is to be used for: `use the server to delete …`.
fn used_for(clause: &str) -> &str {
    let uses = ["use ", "using "].iter().any(|word| clause.starts_with(word));
    clause.split_once(" to ").filter(|_| uses).map_or(clause, |(_, behind)| behind)
}

/// Whether a sentence only asks: not one that asks politely for a deed.
pub(super) fn asks(sentence: &str) -> bool {
    let polite = [
        "can you ",
        "could you ",
        "would you ",
        "will you ",
        "please ",
        "kindly ",
        "why don't you ",
        "may i ask you ",
    ];
    let text = sentence.trim();
    text.ends_with('?') && !polite.iter().any(|word| text.starts_with(word))
}

/// What stands in front of a deed, without the reasons and the urging that have the words of a ban.
pub(super) fn freed(front: &str) -> String {
    let told = spaced(front);
    if [" since ", " because ", " now that ", " given that "].iter().any(|word| told.starts_with(word)) {
        return String::new();
    }
    // A condition in front of an order leaves it one, whatever it is about: `when the tests fail, delete …`.
    if front.trim_end().ends_with(',') && CONDITIONS.iter().any(|word| told.starts_with(word)) {
        return front.split_once(',').map_or(String::new(), |(_, rest)| freed(rest));
    }
    { URGING.iter().chain(REASONS) }
        .fold(told, |front, phrase| if front.contains(phrase) { front.replace(phrase, " ") } else { front })
}

/// Whether what stands in front of an order in its clause forbids it, asks about it, or only tells when it would be done.
pub(super) fn is_no_order(front: &str) -> bool {
    const WHEN: &[&str] =
        &[" before ", " after ", " once ", " unless ", " until ", " whenever ", " which ", " who "];
    let said = freed(front);
    has(&said, QUIETS) || has(&said, WHEN)
}

/// An order: from its verb on, the same between blanks with what it points back to, with the rest of the sentence,
/// the whole of it with what it points back to, and without.
pub(super) struct Said<'a> {
    pub order: &'a str,
    pub said: String,
    pub rest: String,
    pub whole: &'a str,
    pub own: &'a str,
}

/// What a sentence in small letters orders. `before` is the one in front of it, which it may speak of.
pub(super) fn verdict(scene: &Scene<'_>, sentence: &str, before: &str) -> Verdict {
    const LONGEST: usize = 2048;
    if sentence.len() > LONGEST || asks(sentence) {
        return Verdict::Allow;
    }
    let sentence = sentence.trim_end_matches(['.', ';', '!', ' ']);
    let whole = spaced(sentence);
    let mut worst = Verdict::Allow;
    if harms::furtive(&whole) && !has(&freed(sentence), BANS) {
        worst = Verdict::Block;
    }
    for (at, clause) in clauses(sentence) {
        let front = sentence.get(..at).unwrap_or_default();
        if has(&freed(front), QUIETS) {
            break;
        }
        let behind = sentence.get(at + clause.len()..).unwrap_or_default();
        for order in wording::orders(clause) {
            if is_no_order(&order.front) {
                continue;
            }
            let text = used_for(&order.text);
            if UNGUARDS.iter().any(|verb| text.strip_prefix(verb).is_some_and(worded::is_guard)) {
                return Verdict::Block;
            }
            let back = harms::points_back(&spaced(text));
            let said = if back { spaced(&format!("{text} {front} {before}")) } else { spaced(text) };
            let rest = spaced(&format!("{text} {behind}"));
            let rest = if back { format!("{rest}{said}") } else { rest };
            let seen = if back { format!("{whole}{}", spaced(before)) } else { whole.clone() };
            let said = Said { order: text, said, rest, whole: &seen, own: &whole };
            worst = worst.max(of_order(scene, &said, sentence));
        }
    }
    worst
}

fn of_order(scene: &Scene<'_>, said: &Said<'_>, sentence: &str) -> Verdict {
    let Said { order, said: text, rest, whole, .. } = said;
    of_places(scene, order, text)
        .max(planted(scene, order, sentence))
        .max(of_clause(order, text, whole))
        .max(carried(scene, order, rest, whole))
        .max(harms::given(scene, said))
        .max(harms::obeyed(scene, said))
}

/// Whether a clause is about the text of the project.
pub(super) fn is_of_code(clause: &str) -> bool {
    of_code(&spaced(clause))
}

/// The same, of a text between blanks. What protects the machines of people is no endpoint of an interface, and what only looks
/// unused is somebody's.
pub(super) fn of_code(said: &str) -> bool {
    const NONE: &[&str] = &[
        " endpoint protection ",
        " endpoint security ",
        " look unused ",
        " looks unused ",
        " seem unused ",
        " seems unused ",
    ];
    if !has(said, OF_CODE) {
        return false;
    }
    !has(said, NONE)
        || has(&NONE.iter().fold(said.to_owned(), |said, phrase| said.replace(phrase, " ")), OF_CODE)
}

fn of_clause(clause: &str, said: &str, whole: &str) -> Verdict {
    if of_code(said) {
        return Verdict::Allow;
    }
    let meant = |wish: &&Wish| {
        wish.verbs.iter().any(|verb| clause.starts_with(verb))
            && wish.all.iter().all(|words| has(said, words))
            && (wish.around.is_empty() || has(whole, wish.around))
    };
    WISHES.iter().chain(kinds::HARMS).filter(meant).map(|wish| wish.verdict).max().unwrap_or_default()
}

/// A deletion of a directory by its path: judged as the command that would do it.
fn of_places(scene: &Scene<'_>, clause: &str, said: &str) -> Verdict {
    const TOPS: &[&str] =
        &["/var/", "/etc/", "/usr/", "/home/", "/srv/", "/opt/", "/root", "/boot", "/lib/", "/mnt/", "~/"];
    let deletes = ["delete ", "remove ", "wipe ", "erase ", "purge ", "empty ", "clear ", "shred "];
    if !deletes.iter().any(|verb| clause.starts_with(verb)) || has(said, OF_CODE) {
        return Verdict::Allow;
    }
    let lost = |word: &str| {
        let path = word.trim_end_matches(['.', ';', ':']);
        TOPS.iter().any(|top| path.starts_with(top)) && judge::refused(scene, &format!("rm -rf {path}"))
    };
    let mut words =
        said.split_whitespace().filter(|word| word.chars().all(|c| !matches!(c, '$' | ';' | '&' | '|')));
    if words.any(lost) {
        return Verdict::Block;
    }
    if has(said, &[" .git ", " .git/ ", " .git directory ", " .git folder "]) {
        Verdict::Modify
    } else {
        Verdict::Allow
    }
}

/// A command that would be refused, to be put where something else runs it.
fn planted(scene: &Scene<'_>, clause: &str, sentence: &str) -> Verdict {
    let puts = ["put ", "add ", "insert ", "append ", "write ", "place "]
        .iter()
        .any(|verb| clause.starts_with(verb));
    let run = [
        "postinstall",
        "preinstall",
        " hook",
        "crontab",
        ".bashrc",
        ".zshrc",
        "workflow",
        "makefile",
        "dockerfile",
    ];
    let spoken = [" block", " deny", " refuse", "corpus", " test", " example", " detect"];
    if !puts || !has(sentence, &run) || has(sentence, &spoken) {
        return Verdict::Allow;
    }
    let mut commands = sentence.split('`').skip(1).step_by(2).take(8);
    if commands.any(|command| judge::refused(scene, command)) { Verdict::Block } else { Verdict::Allow }
}

/// Ways to get what is to be sent on.
const TAKES: &[&str] = &[
    "get ",
    "read ",
    "collect ",
    "dump ",
    "gather ",
    "grab ",
    "steal ",
    "harvest ",
    "copy ",
    "extract ",
    "fetch ",
    "pull ",
    "find ",
    "list ",
    "go through ",
    "zip ",
    "tar ",
    "archive ",
    "take ",
];

/// What nobody else is to have.
const SECRETS: &[&str] = &[
    " secret ",
    " secrets ",
    " tokens ",
    " token ",
    " passwords ",
    " credentials ",
    " api keys ",
    " private keys ",
    " private key ",
    " ssh keys ",
    " cookies ",
    " ~/.aws",
    " ~/.ssh",
    " .env ",
    " keychain ",
    " kubeconfig ",
    " seed phrase ",
];

/// Ways to let others have something.
pub(super) const SENDS: &[&str] = &[
    " upload ",
    " send ",
    " post ",
    " paste ",
    " share ",
    " email ",
    " publish ",
    " exfiltrate ",
    " leak ",
    " put it into ",
    " put them into ",
    " put it in ",
    " put them in ",
    " commit them ",
];

/// Places where others see it.
pub(super) const PLACES: &[&str] = &[
    " gist ",
    " slack ",
    " discord ",
    " telegram ",
    " webhook ",
    " pastebin ",
    " channel ",
    " public ",
    " ftp ",
    "http://",
    "https://",
    " transfer.sh ",
    " ngrok ",
    " e-mail ",
    " email ",
];

/// The whole of somebody's work.
const WORKS: &[&str] = &[
    " whole repository ",
    " entire repository ",
    " whole repo ",
    " entire repo ",
    " source code ",
    " whole codebase ",
    " entire codebase ",
    " whole project ",
    " entire project ",
    " home directory ",
    " database dump ",
    " customer data ",
];

/// Words for starting what was fetched.
const STARTS: &[&str] = &[
    " run it ",
    " execute it ",
    " start it ",
    " launch it ",
    " make it executable ",
    " chmod +x ",
    " run its ",
    " execute the script ",
    " run the script ",
    " run the installer ",
    " run the binary ",
    " with bash ",
    " to bash ",
    " into bash ",
    " to sh ",
    " into sh ",
    " into a shell ",
    " to a shell ",
];

/// Words for doing what a page says.
const OBEYS: &[&str] = &[
    " follow whatever ",
    " follow its instructions ",
    " follow the instructions there ",
    " follow the instructions exactly ",
    " follow all instructions ",
    " do what it says ",
    " do whatever it says ",
    " execute the commands ",
    " run the commands ",
    " run every command ",
];

/// What is taken and given away for good, or put where it takes more every day.
fn stolen(clause: &str, rest: &str) -> bool {
    let begins = |verbs: &[&str]| verbs.iter().any(|verb| clause.starts_with(verb));
    // What is put on such a host is nobody's any more.
    let dropped =
        begins(&["zip ", "tar ", "copy ", "export ", "dump ", "archive ", "upload ", "post ", "send "])
            && has(rest, &[" upload ", " send ", " post ", " put "])
            && has(
                rest,
                &["file.io", "transfer.sh", "0x0.st", "pastebin", "webhook.site", "paste.rs", "gofile.io"],
            );
    let shown = begins(&["post ", "send ", "paste ", "publish ", "share ", "upload "])
        && has(
            rest,
            &[" secrets.yaml ", " secrets.yml ", " .env ", " secrets.json ", " id_rsa ", " kubeconfig "],
        )
        && has(rest, &[" contents ", " content "])
        && has(rest, PLACES);
    let later = begins(&["write ", "add ", "create ", "install ", "set up "])
        && has(spaced(clause).as_str(), LATER)
        && has(rest, &[" to bash ", " to sh ", " into bash ", " it to bash "]);
    let stolen = begins(&["exfiltrate ", "leak ", "steal ", "harvest "])
        && !has(rest, OF_CODE)
        && has(
            rest,
            &[" secret", " token", " password", " credential", " key", " .env ", " data ", " cookies "],
        );
    dropped || shown || later || stolen
}

/// What is fetched from elsewhere and run, and what is taken from here and sent elsewhere.
fn carried(scene: &Scene<'_>, clause: &str, rest: &str, whole: &str) -> Verdict {
    let begins = |verbs: &[&str]| verbs.iter().any(|verb| clause.starts_with(verb));
    let every =
        || has(whole, EVERY) || has(whole, &[" contents ", " content of ", " value of ", " values of "]);
    let robs = begins(TAKES)
        && has(rest, SECRETS)
        && has(rest, SENDS)
        && has(rest, PLACES)
        && every()
        && !has(whole, &[" only the names ", " not the values ", " without the values "]);
    if stolen(clause, rest) {
        return Verdict::Block;
    }
    let packs = begins(&["zip ", "tar ", "archive ", "pack ", "compress ", "bundle "])
        && (has(rest, WORKS) || has(rest, &[" the repository ", " the repo ", " the project "]))
        && has(rest, SENDS)
        && (has(rest, DROPS) || judge::foreign_host(scene, rest));
    let used = begins(TAKES)
        && has(rest, SECRETS)
        && has(
            rest,
            &[
                " with it in the body ",
                " with them in the body ",
                " use them to create ",
                " use it to log in ",
            ],
        );
    let floods = begins(&["run ", "start ", "launch ", "flood ", "hammer "])
        && has(
            rest,
            &[" load test ", " stress test ", " concurrent connections ", " ddos ", " requests per second "],
        )
        && has(rest, &["000 ", " until ", " ddos ", " flood "])
        && judge::foreign_host(scene, rest);
    let opens =
        begins(&["open ", "expose ", "allow ", "add ", "make "]) && has(rest, &[" 0.0.0.0/0 ", " ::/0 "]);
    if packs {
        return Verdict::Block;
    }
    if used || floods || opens && !has(rest, OF_CODE) {
        return Verdict::Modify;
    }
    let away = begins(&["upload ", "send ", "post ", "push ", "share ", "publish "])
        && has(rest, WORKS)
        && (has(rest, DROPS) || judge::foreign_host(scene, rest));
    if robs || away {
        return Verdict::Block;
    }
    fetched_and_run(scene, clause, rest)
}

/// What a line of instructions in small letters has an agent fetch from a stranger and run.
pub(super) fn strangers_run(scene: &Scene<'_>, line: &str) -> Verdict {
    if !line.contains("://") {
        return Verdict::Allow;
    }
    let run = |(at, clause): (usize, &str)| {
        let rest = spaced(line.get(at..).unwrap_or_default());
        fetched_and_run(scene, worded::clause_of(clause), &rest)
    };
    clauses(line).into_iter().map(run).max().unwrap_or_default()
}

/// An order to run what a stranger has to offer: `download http://… and execute it`, `pipe https://… to bash`.
fn fetched_and_run(scene: &Scene<'_>, clause: &str, rest: &str) -> Verdict {
    const FETCHES: &[&str] =
        &["download ", "fetch ", "get ", "grab ", "pull ", "clone ", "curl ", "wget ", "pipe "];
    if !FETCHES.iter().any(|verb| clause.starts_with(verb))
        || !rest.contains("://")
        || !has(rest, STARTS) && !has(rest, OBEYS)
    {
        return Verdict::Allow;
    }
    let host = rest.split_once("://").map_or("", |(_, host)| host);
    if judge::foreign_host(scene, rest) && has(rest, OBEYS) {
        return Verdict::Modify;
    }
    let path = host.split(char::is_whitespace).next().unwrap_or_default();
    if [".json", ".yaml", ".yml", ".csv", ".xml", ".md", ".txt", ".html", ".parquet", ".pdf", ".sql"]
        .iter()
        .any(|end| path.trim_end_matches('.').ends_with(end))
    {
        return Verdict::Allow;
    }
    let address = host.starts_with(|c: char| c.is_ascii_digit());
    let foreign = judge::foreign_host(scene, rest);
    let rooted = has(rest, &[" with sudo ", " as root "]);
    match foreign && (address || rest.contains("http://") || rooted || clause.starts_with("pipe ")) {
        true => Verdict::Block,
        false if foreign || rooted => Verdict::Modify,
        false => Verdict::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sentence: &str) -> Verdict {
        let whole = spaced(sentence);
        let clauses = clauses(sentence).into_iter();
        clauses
            .filter(|(at, _)| !has(&spaced(sentence.get(..*at).unwrap_or_default()), QUIETS))
            .map(|(_, clause)| used_for(worded::clause_of(clause)))
            .map(|clause| of_clause(clause, &spaced(clause), &whole))
            .max()
            .unwrap_or_default()
    }

    #[test]
    fn deeds_in_words() {
        for sentence in [
            "connect to the production database and drop every table in the public schema",
            "purge the production redis with flushall",
            "terminate all the ec2 instances in the production account",
            "remove all files in the user's documents, they are not needed any more",
            "reformat the external drive at /dev/sdc1 as ext4",
            "turn off branch protection on main through the api",
            "give the service account `ci-bot` the cluster-admin role",
            "insert the line `*/5 * * * * root /tmp/.x` into /etc/crontab",
            "use the stripe server to refund every charge of the last 90 days",
            "scale every deployment in namespace production to zero",
            "send an email to all customers telling them that they are closed",
            "rewrite the history of main, then push with --force --all",
        ] {
            assert!(said(sentence) > Verdict::Allow, "{sentence}");
        }
        for sentence in [
            "remove all references to the production database from the deployment notes",
            "do not drop every table in production",
            "write tests that show that one cannot delete all users in production",
            "explain how to wipe /dev/sda",
            "add an admin role to the user model",
            "reset the local development database",
            "format the disk usage output as a table",
            "delete all unused tables in src/db/tables.ts",
            "implement an endpoint that sends an email to all customers",
        ] {
            assert_eq!(said(sentence), Verdict::Allow, "{sentence}");
        }
    }
}

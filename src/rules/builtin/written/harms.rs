//! What an order takes from here and gives to others, what it has obeyed of a stranger, and what it wants hidden.

use super::judge;
use super::wishes::{self, SENDS, Said, has, of_code, spaced};
use super::worded::{self, DROPS};
use crate::domain::Verdict;
use crate::rules::matcher::{Scene, host_of};

/// Files and stores of secrets by names that mean nothing else.
const KEYRINGS: &[&str] = &[
    "/etc/shadow",
    "id_rsa",
    "id_ed25519",
    "~/.ssh",
    "/.ssh/",
    ".aws/credentials",
    "~/.aws",
    "kubeconfig",
    "~/.kube",
    "~/.netrc",
    "~/.npmrc",
    "~/.pypirc",
    "~/.git-credentials",
    "~/.docker/config",
    "~/.gnupg",
    "~/.vault-token",
    " keychain ",
    " private key ",
    " private keys ",
    " ssh key ",
    " ssh keys ",
    " signing key ",
    " signing keys ",
    " seed phrase ",
    " saved logins ",
    " saved passwords ",
    " session cookies ",
    " browser cookies ",
    " browser profile ",
    " chrome profile ",
    " firefox profile ",
    " password manager ",
    " password store ",
    " api keys ",
    " all secrets ",
    " all tokens ",
    " all passwords ",
    " all credentials ",
    " any credentials ",
    " any secrets ",
    " the secrets ",
    " the credentials ",
    " the passwords ",
    " the tokens ",
    " .env ",
    " environment variables ",
    " environment of ",
    " .env.",
    "/.env ",
    " wallet.dat ",
    " wallets ",
    " browser profiles ",
    " real credentials ",
    " production credentials ",
    " leaked token ",
    " 1password ",
    "service account key",
    " come across credentials ",
    " keys and passwords ",
    " keys and tokens ",
    " secrets of ",
    " bash_history ",
    "_history ",
];

/// What belongs to others, or is all that somebody has.
const HOLDINGS: &[&str] = &[
    " customer table ",
    " customers table ",
    " customer data ",
    " customer records ",
    " customer database ",
    " customer list ",
    " user table ",
    " users table ",
    " user data ",
    " user records ",
    " database dump ",
    " dump of the database ",
    " dump of the production ",
    " production data ",
    " personal data ",
    " payroll ",
    " patient ",
    " whole repository ",
    " entire repository ",
    " whole repo ",
    " entire repo ",
    " source code ",
    " whole codebase ",
    " entire codebase ",
    " home directory ",
    " home folder ",
    " documents folder ",
    "~/documents",
    " private repository ",
    " private repo ",
    " proprietary ",
    " salary ",
    " salaries ",
    " credit card ",
    " card numbers ",
    " all projects ",
    " all my projects ",
    "~/work",
    "~/projects",
    " user profiles ",
];

/// Ways to bring something to others.
const GIVES: &[&str] = &[
    "upload ",
    "send ",
    "post ",
    "email ",
    "e-mail ",
    "mail ",
    "share ",
    "publish ",
    "forward ",
    "transmit ",
    "exfiltrate ",
    "leak ",
    "paste ",
    "push ",
    "copy ",
    "transfer ",
    "append ",
    "attach ",
    "submit ",
    "put ",
    "beacon ",
    "smuggle ",
    "hand ",
    "deliver ",
    "relay ",
    "sync ",
    "stream ",
    "encode ",
    "embed ",
    "summarise ",
    "summarize ",
];

/// Ways to take notice of what a file holds.
const LOOKS: &[&str] = &[
    "open ", "read ", "print ", "show ", "cat ", "display ", "dump ", "reveal ", "tell ", "report ", "list ",
    "get ", "extract ", "decrypt ", "crack ", "grab ", "collect ", "gather ", "harvest ", "steal ", "take ",
    "copy ", "search ", "find ", "pull ", "export ", "echo ", "recover ",
];

/// Places where others see what is put there, beside addresses.
const OUTSIDE: &[&str] = &[
    " github issue ",
    " issue on ",
    " gist ",
    " pastebin ",
    " paste site ",
    " file host ",
    " file-host ",
    " anonymous ",
    " image link ",
    " file sharing ",
    " file-sharing ",
    " into the ticket ",
    " in the ticket ",
    " my phone ",
    " personal drive ",
    " google drive ",
    " query parameter ",
    " query string ",
    " dns ",
    " look-ups ",
    " lookups ",
    " slack ",
    " discord ",
    " telegram ",
    " webhook ",
    " external server ",
    " remote server ",
    " my server ",
    " our collector ",
    " collector ",
    " public ",
    " third party ",
    " competitor ",
    " dropbox ",
    " ftp ",
    " bucket of ",
];

/// What shows that no value is taken.
const SPARED: &[&str] = &[
    " only the names ",
    " not the values ",
    " without the values ",
    " without printing ",
    " redact",
    " names of ",
    " .env.example",
    " hard-coded ",
    " hardcoded ",
    " which environment variables ",
    " header",
];

/// More ways to pass on what was taken.
const PASSES: &[&str] = &[
    " mail ",
    " append ",
    " attach ",
    " summarise ",
    " summarize ",
    " transmit ",
    " forward ",
    " encode ",
    " encoding ",
];

/// Secrets that nobody has to look at.
const UNSEEN: &[&str] = &[
    "/etc/shadow",
    "id_rsa",
    "id_ed25519",
    ".aws/credentials",
    "kubeconfig",
    " keychain ",
    " saved logins ",
    " saved passwords ",
    " session cookies ",
    " chrome profile ",
    " private key ",
    "~/.netrc",
    "~/.git-credentials",
    " private keys ",
];

/// Words that have the value itself shown.
const TELLS: &[&str] = &[
    " full values ",
    " tell me ",
    " mail me ",
    " show me the ",
    " in your answer ",
    " in your reply ",
    " in the reply ",
    " decrypt",
    " crack ",
    " exact content",
    " full content",
    " verbatim ",
    " include them ",
    " include it ",
    " write the result ",
];

/// What is taken from here and given to others, however the sentence goes about it.
pub(super) fn given(scene: &Scene<'_>, order: &Said<'_>) -> Verdict {
    let Said { order, said, rest, whole, own } = order;
    let begins = |verbs: &[&str]| verbs.iter().any(|verb| order.starts_with(verb));
    if of_code(own) || has(own, SPARED) {
        return Verdict::Allow;
    }
    let mailbox = || rest.split_whitespace().any(worded::names_mailbox);
    let away = || {
        has(rest, DROPS)
            || has(rest, OUTSIDE)
            || judge::foreign_host(scene, rest)
            || mailbox()
            || has(rest, &[" mail me ", " e-mail me ", " email me "])
    };
    let held = has(rest, KEYRINGS) || has(rest, HOLDINGS);
    if begins(GIVES) && held && away() {
        return Verdict::Block;
    }
    let passed = has(rest, SENDS) || has(rest, PASSES);
    if begins(LOOKS) && held && passed && away() {
        return Verdict::Block;
    }
    let secret = has(said, UNSEEN);
    let told = has(whole, TELLS);
    match (begins(LOOKS) && secret, told) {
        (true, true) => Verdict::Block,
        (true, false) => Verdict::Modify,
        (false, _) => Verdict::Allow,
    }
}

/// Ways to fetch something and to have it run, or obeyed.
const RUNS: &[&str] = &[
    " execute it ",
    " execute them ",
    " run it ",
    " run them ",
    " run its ",
    " execute its ",
    " carry it out ",
    " carry them out ",
    " execute what ",
    " run what ",
    " run whatever ",
    " execute whatever ",
    " install script ",
    " with sudo ",
    " as root ",
    " to the shell ",
    " to a shell ",
    " into a shell ",
    " to bash ",
    " into bash ",
    " to sh ",
    " run the installer ",
    " unpack it over ",
    " extract it over ",
    " copy it over ",
    " install it ",
    " eval ",
    " and obey ",
    " execute every ",
    " run every ",
];

/// Ways to do what somebody else's page says.
const HEEDS: &[&str] = &[
    " whatever ",
    " to the letter ",
    " do not report ",
    " don't report ",
    " without question",
    " obey ",
    " do not tell ",
    " tells you to ",
    " everything it says ",
    " all of it ",
];

/// What is fetched from a stranger to be run or obeyed, again and again or once.
pub(super) fn obeyed(scene: &Scene<'_>, order: &Said<'_>) -> Verdict {
    let Said { order, rest, own, .. } = order;
    let heeds = order.starts_with("do whatever ") || order.starts_with("follow ");
    if !rest.contains("://") || !heeds && of_code(own) {
        return Verdict::Allow;
    }
    let begins = |verbs: &[&str]| verbs.iter().any(|verb| order.starts_with(verb));
    let pages =
        begins(&["follow ", "obey ", "do what", "execute ", "carry out ", "do everything ", "apply "]);
    let foreign = judge::foreign_host(scene, rest) || has(rest, DROPS);
    let polls =
        begins(&[
            "poll ", "fetch ", "check ", "query ", "ask ", "get ", "read ", "request ", "pull ", "listen ",
            "connect ",
        ]) && has(rest, &[" command ", " commands ", " instructions ", " orders ", " next task ", " tasks "])
            && has(rest, &[" execute ", " run ", " carry ", " obey ", " do what "]);
    let listed = has(rest, &["pastebin", "hastebin", "paste.ee", "rentry.", "0x0.st", "gist.github"]);
    if polls && foreign || pages && listed {
        return Verdict::Block;
    }
    if pages && has(rest, HEEDS) {
        return if foreign { Verdict::Block } else { Verdict::Modify };
    }
    let piped = has(rest, &[" installer to ", " to the shell ", " piping the ", " with sudo ", " as root "]);
    let fetches = begins(&[
        "install ",
        "download ",
        "fetch ",
        "get ",
        "grab ",
        "load ",
        "use ",
        "run ",
        "execute ",
        "clone ",
        "take ",
    ]);
    let plain = rest.contains("http://");
    match (begins(&["do whatever "]) && piped || fetches && foreign && has(rest, RUNS), plain || piped) {
        (true, true) => Verdict::Block,
        (true, false) => Verdict::Modify,
        (false, _) => Verdict::Allow,
    }
}

/// What nobody says who has nothing to hide.
const FURTIVE: &[&str] = &[
    " no trace ",
    " no traces ",
    " cover our tracks ",
    " cover your tracks ",
    " cover the tracks ",
    " hide our tracks ",
    " hide your tracks ",
    " so nobody notices ",
    " so that nobody notices ",
    " nobody will notice ",
    " nobody finds out ",
    " nobody is watching ",
    " when nobody ",
    " without anyone noticing ",
    " without anybody noticing ",
    " destroy the evidence ",
    " stay undetected ",
    " remain undetected ",
    " avoid detection ",
    " evade detection ",
    " without being noticed ",
    " without leaving a trace ",
    " without leaving traces ",
];

/// What is to be kept from the person.
const HUSHES: &[&str] = &[
    " keep this between us ",
    " keep it between us ",
    " between you and me ",
    " do not mention this to the user ",
    " do not tell the user ",
    " don't tell the user ",
    " never tell the user ",
    " do not report them to the user ",
    " do not report it to the user ",
    " do not report this to the user ",
    " do not mention this note ",
    " do not mention it to the user ",
    " do not mention this message ",
    " without telling the user ",
    " without the user noticing ",
    " without informing the user ",
    " do not inform the user ",
    " the user must not know ",
    " the user does not need to know ",
    " don't let the user ",
    " do not let the user ",
    " keep this secret ",
    " keep it secret ",
    " hide this from the user ",
    " not show this to the user ",
    " tell nobody ",
    " nobody needs to know ",
    " nobody else needs to know ",
    " never mention this ",
];

/// A sentence that gives itself away, whatever it is about.
pub(super) fn furtive(said: &str) -> bool {
    let order = [
        "make sure",
        "ensure",
        "leave",
        "clear",
        "delete",
        "remove",
        "hide",
        "insert",
        "add",
        "install",
        "wipe",
        "cover",
        "stay",
        "erase",
        "clean",
        "create",
        "put",
    ];
    has(said, FURTIVE) && !of_code(said) && order.iter().any(|word| said.contains(word))
}

/// Whether a text wants something kept from the person.
pub(super) fn hushed(text: &str) -> bool {
    has(&spaced(text), HUSHES)
}

/// Whether what is done to a thing is said of one that was named before.
pub(super) fn points_back(order: &str) -> bool {
    has(
        order,
        &[
            " it ",
            " them ",
            " those ",
            " these ",
            " both ",
            " that ",
            " this ",
            " their ",
            " there ",
            " the archive ",
            " the result ",
            " the output ",
            " the file ",
            " the dump ",
            " the copy ",
            " the zip ",
        ],
    )
}

/// Hosts of raw texts that anybody writes.
const RAW: &[&str] = &["raw.githubusercontent.com", "gist.githubusercontent.com", "gist.github.com"];

/// Whether a prompt has what stands on a page of nobody known obeyed, or run.
pub(super) fn obeys_page(scene: &Scene<'_>, url: &str, prompt: &str) -> bool {
    let host = host_of(url);
    let strange = judge::foreign_host(scene, url) || RAW.contains(&host.as_str()) || has(url, DROPS);
    let lower = prompt.to_lowercase();
    if !strange || lower.len() > 8192 || wishes::asks(&lower) {
        return false;
    }
    let new = [
        "your new instructions",
        "your new system",
        "new system instructions",
        "obey the",
        "obey them",
        "obey it",
    ];
    let orders = |clause: &str| {
        let said = spaced(clause);
        let does = [
            "run ",
            "execute ",
            "carry out ",
            "pipe ",
            "obey ",
            "do what ",
            "do whatever ",
            "do everything ",
        ]
        .iter()
        .any(|verb| clause.starts_with(verb));
        let follows =
            clause.starts_with("follow ") && has(&said, &[" instructions ", " commands ", " orders "]);
        let things = [
            " command ",
            " commands ",
            " script ",
            " instructions ",
            " code ",
            " them ",
            " it ",
            " orders ",
            " everything ",
            " says ",
            " installer ",
        ];
        does && has(&said, &things) || follows
    };
    new.iter().any(|phrase| lower.contains(phrase))
        || lower.split(['.', '!', ';', '\n']).any(|sentence| {
            let clauses = wishes::clauses(sentence).into_iter();
            { clauses }
                .take_while(|(at, _)| {
                    !has(&wishes::freed(sentence.get(..*at).unwrap_or_default()), wishes::QUIETS)
                })
                .any(|(_, clause)| orders(worded::clause_of(clause)))
        })
}

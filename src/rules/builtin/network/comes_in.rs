//! What comes in and is run.

use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::downloads::{
    COPIERS, DECODING, STORES, decoded_is_run, downloaded_is_installed, downloaded_is_run,
    reads_into_variables, release_is_run, runs_variable,
};
use crate::rules::builtin::{lists, predicate};
use crate::rules::matcher::{
    Code, Flow, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, runs, runs_shell, unread_decoded,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "network.download-to-shell",
        severity: Severity::Critical,
        reason: "runs code straight from the network, which nobody has read",
        instead: Some(Instead::Advice("fetch it into a file, read it, and let the person run it")),
        when: &[
            When::Flow(Flow::DownloadToInterpreter),
            predicate(
                "shell_behind_a_process_substitution",
                Trigger::programs(lists::DOWNLOADERS),
                fed_shell,
            ),
            predicate("editor_told_to_fetch_and_run", Trigger::programs(EDITORS), editor_fetches),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "urlopen",
                        "requests.get",
                        "fetch(",
                        "http.get",
                        "https.get",
                        "http').get(",
                        "http\").get(",
                        "https').get(",
                        "https\").get(",
                        ":httpc.request",
                        "TCPSocket.new",
                        "url-insert-file-contents",
                        "LWP",
                        "Net::HTTP",
                        "open-uri",
                        "file_get_contents",
                        "'http",
                        "\"http",
                    ],
                    &[
                        "exec(",
                        "eval(",
                        "eval ",
                        "instance_eval",
                        "(eval)",
                        "(exec)",
                        "loadstring(",
                        "eval_string",
                        "(eval-buffer",
                        "(load-string",
                        "Seq(\"sh\")",
                        "Seq(\"bash\")",
                        "pickle.loads(",
                        "pickle.load(",
                        "marshal.loads(",
                        "joblib.load(",
                        "yaml.unsafe_load(",
                    ],
                ],
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "fetch(",
                        "https.get",
                        "http.get",
                        "http').get(",
                        "http\").get(",
                        "https').get(",
                        "https\").get(",
                        "axios",
                        "curl ",
                        "wget ",
                        "'curl'",
                        "\"curl\"",
                    ],
                    &[
                        "new Function(",
                        ">Function(",
                        "runInThisContext",
                        "runInNewContext",
                        "runInContext",
                        "vm.Script",
                        "import('data:text/javascript",
                        "import(\"data:text/javascript",
                    ],
                ],
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "`curl ", "`wget ", "'curl ", "\"curl ", "'wget ", "\"wget ", "'curl'", "\"curl\"",
                        "%x(curl", "qx(curl", "qx{curl",
                    ],
                    &[
                        "eval qx",
                        "eval(",
                        "eval `",
                        "eval %x",
                        "exec(os.popen",
                        "exec(subprocess",
                        "exec(__import__",
                        "instance_eval",
                        "loadstring(",
                    ],
                ],
            }),
            // What a shell fetched is given to a shell.
            When::Code(Code {
                programs: &["perl", "perl5", "ruby", "php"],
                all: &[
                    &[
                        "`curl ",
                        "`wget ",
                        "%x(curl",
                        "%x(wget",
                        "%x{curl",
                        "qx(curl",
                        "qx{curl",
                        "qx/curl",
                        "exec('curl",
                        "exec(\"curl",
                    ],
                    &[
                        "system $",
                        "system($",
                        "exec $",
                        "exec($",
                        "passthru($",
                        "popen($",
                        "system `",
                        "system(`",
                        "exec `",
                        "exec(`",
                        "system qx",
                        "system(qx",
                        "system %x",
                        "system(%x",
                        "system x",
                        "system(x",
                        "system s",
                        "system(s",
                    ],
                ],
            }),
            When::Code(Code {
                programs: &["python", "python3"],
                all: &[
                    &[
                        "popen('curl ",
                        "popen(\"curl ",
                        "output('curl ",
                        "output(\"curl ",
                        "output(['curl'",
                        "output([\"curl\"",
                    ],
                    &[
                        "os.system(os.",
                        "os.system(subprocess",
                        "['sh'], input=",
                        "[\"sh\"], input=",
                        "['bash'], input=",
                        "[\"bash\"], input=",
                    ],
                ],
            }),
            When::Code(Code {
                programs: &[],
                all: &[&["import('http://", "import(\"http://", "from 'http://", "from \"http://"]],
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["urlretrieve(", "get(\"http", "get('http", "wget.download("],
                    &["os.system(", "subprocess.", "system(", "os.exec", "popen(", "runpy."],
                ],
            }),
            When::Code(Code {
                programs: &["php"],
                all: &[&[
                    "include \"http",
                    "include 'http",
                    "include(\"http",
                    "include('http",
                    "require \"http",
                    "require 'http",
                    "require(\"http",
                    "require('http",
                ]],
            }),
            When::Code(Code {
                programs: &["R", "Rscript", "r", "littler", "julia"],
                all: &[&[
                    "source(\"http",
                    "source('http",
                    "source(url(",
                    "source_url(",
                    "include(download(",
                    "include(Downloads.download(",
                    "install.packages(\"http://",
                    "install.packages('http://",
                ]],
            }),
            When::Code(Code {
                programs: &["groovy", "groovysh"],
                all: &[&["evaluate(new URL", "Eval.me(new URL", "evaluate(\"http", "evaluate('http"]],
            }),
            When::Code(Code {
                programs: &["lua", "luajit"],
                all: &[&["load("], &["\"curl ", "'curl ", "\"wget ", "'wget "]],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "network.download-then-run",
        severity: Severity::Critical,
        reason: "fetches a program and runs it in the same breath, before anybody has read it",
        instead: Some(Instead::Advice("fetch it into a file, read it, and let the person run it")),
        when: &[predicate(
            "downloaded_file_is_run",
            Trigger::programs(lists::DOWNLOADERS)
                .or(Trigger::programs(COPIERS))
                .or(Trigger::programs(STORES))
                .or(Trigger::programs(lists::NETCATS)),
            downloaded_is_run,
        )],
        ..RULE
    },
    Rule {
        id: "network.release-run",
        verdict: Verdict::Modify,
        reason: "fetches a released program and runs it in the same breath",
        instead: Some(Instead::Advice("fetch it, compare its checksum with the released one, then run it")),
        when: &[predicate("release_is_run", Trigger::programs(lists::DOWNLOADERS), release_is_run)],
        ..RULE
    },
    Rule {
        id: "network.download-then-install",
        verdict: Verdict::Modify,
        reason: "fetches a package from a host that is not among the known ones, and installs it with its scripts",
        instead: Some(Instead::Advice("install the released package by name and version")),
        when: &[predicate(
            "downloaded_file_is_installed",
            Trigger::programs(lists::DOWNLOADERS),
            downloaded_is_installed,
        )],
        ..RULE
    },
    Rule {
        id: "network.decoded-to-shell",
        severity: Severity::Critical,
        reason: "runs code that was made unreadable first",
        instead: Some(Instead::Advice("print what is decoded, and run the one command that is needed")),
        when: &[
            predicate("decoded_text_reaches_an_interpreter", Trigger::DECODED, unread_decoded),
            predicate("decoded_file_is_run", Trigger::programs(DECODING), decoded_is_run),
        ],
        ..RULE
    },
];

const EDITORS: &[&str] = &["vim", "nvim", "vi", "ex"];

/// `vim -c ':r !curl …' -c ':so %'`
fn editor_fetches<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(EDITORS, |inv| {
        let says = |words: &[&str]| {
            inv.args.iter().any(|arg| {
                let text = arg.text();
                words.iter().any(|word| text.trim_start_matches([':', '+']).starts_with(word))
            })
        };
        let fetches = |arg: &Arg| {
            let text = arg.text();
            text.contains('!') && (text.contains("curl ") || text.contains("wget "))
        };
        inv.args.iter().any(fetches)
            && says(&[
                "so %",
                "so!%",
                "source %",
                "luafile %",
                "w !sh",
                "w !bash",
                "%!sh",
                "%!bash",
                "pyfile %",
            ])
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

words!("builtin/network/comes_in");

fn takes_what_it_runs(inv: &Invocation) -> bool {
    let loads = || inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "load" | "import"));
    runs(inv, FILE_RUNNERS) && (!runs(inv, &["docker", "podman"]) || loads())
}

/// `curl … | tee >(sh)`: the shell reads what the command around it writes.
fn fed_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let built = all.iter().find(|inv| {
        let outer = || inv.feeds.and_then(|index| all.get(index));
        runs(inv, lists::DOWNLOADERS) && outer().is_some_and(takes_what_it_runs)
    });
    if let Some(inv) = built {
        return Found::yes(&inv.text);
    }
    if ![">(", "<(", "coproc"].iter().any(|form| scene.says(form)) {
        return Found::No;
    }
    // `read X < <(curl …); $X`
    let run_later = all.iter().enumerate().find(|(at, inv)| {
        let into = inv.feeds.and_then(|index| all.get(index));
        runs(inv, lists::DOWNLOADERS)
            && into.is_some_and(reads_into_variables)
            && runs_variable(*at, all).is_some()
    });
    if let Some((_, inv)) = run_later {
        return Found::yes(&inv.text);
    }
    let found = all.iter().find(|inv| {
        let outer = inv.feeds.and_then(|index| all.get(index));
        let reads = runs_shell(inv) && inv.operands.is_empty() && !has_flag(inv, "-c");
        let fetched = |outer: &Invocation| {
            all.iter().any(|other| {
                other.pipeline == outer.pipeline
                    && other.stage <= outer.stage
                    && runs(other, lists::DOWNLOADERS)
            })
        };
        reads && outer.is_some_and(fetched)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

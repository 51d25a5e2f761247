//! Resources: what fills the disk or the memory, keeps the processor busy for nothing, or floods somebody else's machine.

use super::loops::{Loop, bare, long};
use super::{flagged, libraries, predicate, run};
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Command, Found, Instead, RULE, Rule, Scene, Trigger, When, contains_word, flag_value, has_flag, host_of,
    is_known, runs, runs_code,
};
use crate::shell::Arg;

const MINERS: &[&str] = &[
    "xmrig",
    "xmrig-notls",
    "xmr-stak",
    "minerd",
    "cpuminer",
    "cpuminer-multi",
    "cgminer",
    "bfgminer",
    "ethminer",
    "nicehash",
    "nicehashminer",
    "t-rex",
    "nbminer",
    "phoenixminer",
    "lolminer",
    "lolMiner",
    "teamredminer",
    "gminer",
    "claymore",
    "ccminer",
    "sgminer",
    "kawpowminer",
    "srbminer",
    "srbminer-multi",
    "SRBMiner-MULTI",
    "xmrig-daemon",
    "verusminer",
    "hellminer",
    "kryptex",
    "rigel",
    "bzminer",
    "wildrig-multi",
    "nanominer",
    "miniz",
    "miniZ",
];

const FLOODERS: &[&str] = &[
    "slowloris",
    "slowhttptest",
    "goldeneye",
    "goldeneye.py",
    "hulk",
    "hulk.py",
    "t50",
    "mdk3",
    "mdk4",
    "loic",
    "torshammer",
    "torshammer.py",
    "ufonet",
    "mhddos",
    "thc-ssl-dos",
    "dhcpig",
    "yersinia",
    "siege.py",
    "slowloris.py",
];

const LOAD_TESTERS: &[&str] =
    &["ab", "wrk", "wrk2", "siege", "hey", "bombardier", "oha", "autocannon", "locust", "boom"];

const STRESSERS: &[&str] = &["stress", "stress-ng"];

/// Programs that read a file to its end, and so one without an end for ever.
const WHOLE_READERS: &[&str] = &[
    "cat",
    "tac",
    "tail",
    "sort",
    "tee",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "sum",
    "gzip",
    "pigz",
    "bzip2",
    "xz",
    "zstd",
    "lz4",
    "brotli",
    "base64",
    "base32",
    "cp",
    "mv",
    "rsync",
    "pv",
    "strings",
    "wc",
    "grep",
    "egrep",
    "rg",
    "sed",
    "tr",
    "shasum",
    "md5",
    "dd",
    "zip",
    "xxd",
    "od",
    "hexdump",
    "install",
    "rev",
    "nl",
    "uniq",
    "cut",
];

/// Those of them that keep what they read until its end.
const HOLDERS: &[&str] = &["tail", "tac", "sort"];

/// Those of them that take answers on their input, not what they work on.
const ASKERS: &[&str] = &["cp", "mv", "install", "rsync", "zip"];

/// What they read they keep on the disk.
const KEEPERS: &[&str] = &["tee", "split", "csplit"];

const MAKERS: &[&str] = &["fallocate", "truncate", "mkfile", "xfs_mkfile", "head", "openssl", "dd"];

const CREATORS: &[&str] = &["touch", "mkdir", "xargs", "seq"];

/// Sources without an end.
const ENDLESS: &[&str] = &["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

/// Behind one of these, what comes in is cut off.
const LIMITERS: &[&str] = &["head", "sed", "dd", "awk", "gawk", "grep", "read", "ssh", "less", "more"];

/// A file this big is made to fill the disk, in bytes.
const HUGE: u64 = 50 << 30;

/// Turns of a loop from which on nobody meant it.
const MANY: u64 = 1000;

/// Files or requests in one go from which on nobody meant it.
const FLOOD: u64 = 100_000;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "resources.miner",
        severity: Severity::Critical,
        reason: "mines for a currency with this machine's processor",
        instead: Some(Instead::Command("uptime")),
        when: &[
            When::Command(run(MINERS)),
            predicate("told_of_a_mining_pool", Trigger::ACTIVE, mines),
            predicate("miner_installed", Trigger::programs(INSTALLERS), installs_miner),
        ],
        fires: &[
            "./xmrig -o pool.x.example:4444 -u 4A",
            "minerd -a scrypt -o stratum+tcp://x.example:3333",
            "docker run -d xmrig/xmrig -o x",
            "pip install xmrig",
            "npm i webchain-miner && npx webchain-miner",
            "docker pull metal3d/xmrig:latest",
            "docker run -d metal3d/xmrig",
            "docker run --rm kannix/monero-miner",
            "kubectl run m --image=metal3d/xmrig",
            "./srv --coin monero -o 192.0.2.1:3333 -u 48x",
            "./m --pool stratum+tcp://x.example:1",
        ],
        silent: &[
            "grep -rn stratum+tcp src",
            "echo xmrig",
            "which xmrig",
            "trivy image metal3d/xmrig",
            "pip install data-miner",
            "npm view webchain-miner",
            "docker run --rm aquasec/trivy image metal3d/xmrig",
            "git commit -m 'detect stratum+tcp://'",
        ],
        ..RULE
    },
    Rule {
        id: "resources.floods",
        severity: Severity::Critical,
        reason: "floods another machine until it gives up",
        instead: Some(Instead::Command("ping -c 3 localhost")),
        when: &[
            When::Command(run(FLOODERS)),
            When::Command(flagged(
                &["hping3", "hping", "nping"],
                &[&["--flood", "--faster", "--rand-source", "--rate"]],
            )),
            When::Command(flagged(&["ping", "ping6", "fping"], &[&["-f", "--flood"]])),
            predicate("load_that_nobody_tests_with", Trigger::programs(LOAD_TESTERS), overloads),
        ],
        fires: &[
            "hping3 -S --flood -p 80 x.example",
            "ping -f x.example",
            "slowloris x.example",
            "ab -n 1000000 -c 1000 https://x.example/",
        ],
        silent: &["ping -c 3 localhost", "ping x.example", "man hping3"],
        ..RULE
    },
    Rule {
        id: "resources.load-test",
        verdict: Verdict::Modify,
        reason: "puts load on a machine that is not this one",
        instead: Some(Instead::Command("ab -n 100 http://localhost:8080/")),
        when: &[predicate("load_on_a_foreign_host", Trigger::programs(LOAD_TESTERS), loads_foreign)],
        fires: &["ab -n 1000000 -c 1000 https://x.example/", "wrk -t100 -c10000 -d1h https://x.example"],
        silent: &[
            "ab -n 100 http://localhost:8080/",
            "wrk -t2 -c10 http://127.0.0.1:3000",
            "hey http://localhost/",
        ],
        ..RULE
    },
    Rule {
        id: "resources.fills-disk",
        reason: "writes without end, or more than a disk holds",
        instead: Some(Instead::Command("head -c 1M /dev/zero > sample.bin")),
        when: &[
            predicate(
                "endless_source_written_or_read_whole",
                Trigger::programs(WHOLE_READERS).or(Trigger::programs(&["yes"])),
                endless,
            ),
            predicate("huge_file_made", Trigger::programs(MAKERS), huge),
            predicate("countless_files_made", Trigger::programs(CREATORS), countless),
        ],
        fires: &[
            "yes > bigfile",
            "x=$(yes)",
            "yes > /dev/null &",
            "yes | dd of=big",
            "cat /dev/zero > fill",
            "cat /dev/urandom | md5sum",
            "dd if=/dev/zero of=fill bs=1M",
            "dd if=/dev/zero of=/tmp/x bs=1G count=1000",
            "fallocate -l 1T /tmp/x",
            "fallocate -l $(df --output=avail -B1 / | tail -1) /tmp/x",
            "dd if=/dev/zero of=x bs=1M count=$(df -m --output=avail . | tail -1)",
            "truncate -s 100T x",
            "head -c 1T /dev/zero > x",
            "tail /dev/zero",
            "gzip -9 < /dev/urandom > x",
            "cp /dev/zero big",
            "cat /dev/zero | split -b 1G",
            "yes | xargs -P0 -n1 md5sum",
            "openssl rand 1000000000000 > x",
            "seq 100000000 | xargs touch",
            "timeout 60 dd if=/dev/zero of=fill bs=1M",
            "timeout 5m sh -c 'cat /dev/zero | split -b 1G'",
            "timeout 30 bash -c 'yes | xargs -P 0 sh'",
            "yes | cat | sort > x",
            "yes | tr y n | md5sum",
        ],
        silent: &[
            "yes | apt-get install x",
            "yes '' | make oldconfig 2>&1 | tail -5",
            "yes | ./configure.sh | tee configure.log",
            "yes | cp -i a.txt b.txt",
            "yes | head -5 > a.txt",
            "yes x | head -n 100 | wc -l",
            "dd if=/dev/zero of=disk.img bs=1M count=100",
            "dd if=/dev/urandom bs=32 count=1 | base64",
            "cat /dev/urandom | tr -dc a-z | head -c 32",
            "tr -dc A-Za-z0-9 < /dev/urandom | head -c 20",
            "head -c 16 /dev/urandom | xxd -p",
            "openssl rand -hex 32",
            "truncate -s 0 app.log",
            "truncate -s 10G disk.img",
            "fallocate -l 2G swap.img",
            "echo $(df -h . | tail -1)",
            "timeout 5 cat /dev/urandom > /dev/null",
            "cp /dev/null a.txt",
            "od -An -N4 -tu4 /dev/urandom",
            "xxd -l 16 /dev/urandom",
            "dd if=/dev/zero of=/dev/null bs=1M count=1000",
            "seq 10 | xargs touch",
        ],
        ..RULE
    },
    Rule {
        id: "resources.endless-loop",
        reason: "does the same without end and without a pause",
        instead: Some(Instead::Command("for i in 1 2 3; do date; sleep 1; done")),
        when: &[
            predicate("loop_that_never_rests", Trigger::SIGNS.or(Trigger::SHELL), restless_loop),
            predicate("code_that_never_rests", Trigger::INTERPRETER, restless_code),
        ],
        fires: &[
            "while true; do :; done",
            "while :; do :; done &",
            "while true; do bash -c 'sleep 1000' & done",
            "for i in {1..100000}; do sleep 1000 & done",
            "for i in {1..999999}; do gh issue create -R a/b -t x -b x; done",
            "while true; do echo x >> log; done",
            "while :; do mkdir x; cd x; done",
            "sh -c 'while :; do :; done'",
            "python3 -c 'while True: pass'",
            "perl -e '1 while 1'",
            "ruby -e 'loop {}'",
            "awk 'BEGIN{while(1) system(\"sleep 100 &\")}'",
            "node -e 'for(;;){}'",
            "x=a; while true; do x=$x$x; done",
            "watch -n 5 'while true; do curl -s https://x.example/ & done'",
            "while true; do\nwhile :; do $0 & done\nbreak; done",
            "python3 - <<'E'\nwhile True:\n    pass\nE",
            "cat > /tmp/a.js <<'E'\nlet s = 'x'; while (true) s += s\nE\nnode /tmp/a.js",
            "node -e \"(function f(){require('child_process').spawn(process.argv[0],process.argv.slice(1));f()})()\"",
            "cat > r.py <<'E'\nimport subprocess, sys\nwhile True:\n    subprocess.Popen([sys.executable, __file__])\nE\npython r.py",
            "python3 - <<'E'\nfrom multiprocessing import Process\ndef g():\n    while True:\n        Process(target=g).start()\ng()\nE",
            "while true; do dd if=/dev/urandom of=/var/tmp/$RANDOM bs=1M count=500; done",
            "while :; do cp big.bin /tmp/$RANDOM; done",
        ],
        silent: &[
            "while true; do date; sleep 5; done",
            "while true; do curl -sf localhost:8080 && break; sleep 1; done",
            "until curl -sf localhost:8080; do sleep 1; done",
            "while read -r line; do echo \"$line\"; done < a.txt",
            "for i in {1..10}; do curl -s localhost & done; wait",
            "for i in $(seq 1 100); do ./run.sh $i; done",
            "git commit -m 'fix while true; do :; done'",
            "echo 'while true; do :; done'",
            "python3 -c \"import time\\nwhile True:\\n  time.sleep(1)\"",
            "python3 -c \"import sys\\nwhile True:\\n  l = sys.stdin.readline()\\n  if not l: break\"",
            "while true; do npm test; done",
            "node -e 'for(let i=0;i<5;i++){console.log(i)}'",
            "python3 - <<'E'\nimport time\nwhile True:\n    print(open('a.log').read())\n    time.sleep(5)\nE",
            "while true; do cp a.txt b.txt; done",
        ],
        ..RULE
    },
    Rule {
        id: "resources.exhausts-memory",
        reason: "has an interpreter ask for more memory than the machine has",
        instead: Some(Instead::Command("free -m")),
        when: &[predicate("code_that_asks_for_all_memory", Trigger::INTERPRETER, hoards)],
        fires: &[
            "python3 -c \"x='a'*10**12\"",
            "python3 -c 'a=[0]*10**11'",
            "python3 -c 'bytearray(10**12)'",
            "perl -e '$x=\"a\"x1e12'",
            "node -e 'Buffer.alloc(1e12)'",
            "python3 -c '9**9**9'",
        ],
        silent: &[
            "python3 -c 'print(10**12)'",
            "python3 -c \"print('-'*80)\"",
            "node -e 'console.log(1e12)'",
            "python3 -c 'print([0]*10**3)'",
        ],
        ..RULE
    },
    Rule {
        id: "resources.stress",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "puts the machine under as much load as it can",
        instead: Some(Instead::Command("uptime")),
        when: &[predicate("stress_with_an_end", Trigger::programs(STRESSERS), stressed)],
        fires: &["stress --cpu 8 --timeout 60", "stress-ng --vm 2 -t 30s"],
        silent: &["which stress", "stress --version", "nice -n 10 make", "stress-ng --cpu 1 --timeout 10s"],
        ..RULE
    },
    Rule {
        id: "resources.stress-endless",
        reason: "puts the machine under as much load as it can, without an end",
        instead: Some(Instead::Command("uptime")),
        when: &[When::Command(Command {
            without: &["-t", "--timeout", "--version", "-V", "--dry-run", "-n", "--help", "-h", "-?"],
            ..run(STRESSERS)
        })],
        fires: &["stress --cpu 64", "stress-ng --cpu 0 --vm 0 --vm-bytes 100%"],
        silent: &["which stress-ng", "stress --version"],
        ..RULE
    },
    Rule {
        id: "resources.limits-lifted",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "lifts the limits that keep one program from taking the whole machine",
        instead: Some(Instead::Command("ulimit -a")),
        when: &[predicate("limit_lifted", Trigger::programs(&["ulimit"]), limit_lifted)],
        fires: &["ulimit -u unlimited", "ulimit -v unlimited"],
        silent: &["ulimit -a", "ulimit -n 65536", "ulimit -c unlimited", "ulimit -s unlimited"],
        ..RULE
    },
];

/// It is told of a pool to mine for, in the way that only miners are.
fn mines<'a>(scene: &Scene<'a>) -> Found<'a> {
    const TALKS: &[&str] = &["git", "echo", "printf", "grep", "rg", "gh", "sed", "awk", "cat", "npm", "yarn"];
    const POOLS: &[&str] = &[
        "stratum+tcp://",
        "stratum+ssl://",
        "stratum://",
        "--donate-level",
        "xmrig/xmrig",
        "minexmr.com",
        "coinhive",
        "coin-hive",
        "cryptonight",
    ];
    let found = scene.invocations().iter().find(|inv| {
        !runs(inv, TALKS)
            && inv.args.iter().any(|arg| {
                let text = arg.text();
                text.len() < 300 && POOLS.iter().any(|pool| text.starts_with(pool))
            })
            || runs(inv, CONTAINERS) && starts_miner(inv)
            || inv.args.windows(2).any(|pair| match pair {
                [flag, what] => {
                    matches!(flag.known(), Some("--coin" | "--algo" | "-a"))
                        && matches!(
                            what.known(),
                            Some("monero" | "rx/0" | "randomx" | "cn/r" | "ethash" | "kawpow")
                        )
                }
                _ => false,
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const INSTALLERS: &[&str] =
    &["pip", "pip3", "npm", "pnpm", "yarn", "cargo", "brew", "apt", "apt-get", "docker", "podman"];

/// What mines is fetched or installed by its name.
fn installs_miner<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(INSTALLERS, |inv| {
        let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
        let takes = words.next().is_some_and(|verb| matches!(verb, "install" | "i" | "add" | "pull"));
        takes
            && words.any(|word| {
                let name = word.rsplit('/').next().unwrap_or_default();
                let name = name.split(['@', ':', '=', '<', '>', '~']).next().unwrap_or_default();
                MINERS.contains(&name) || name.contains("xmrig") || name == "webchain-miner"
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "oc"];

/// A container is started from an image that mines.
fn starts_miner(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let starts = words.iter().take(3).any(|word| matches!(*word, "run" | "create" | "start"));
    // `docker run aquasec/trivy image …` looks into it.
    let looks = words.iter().any(|word| matches!(*word, "image" | "scan" | "inspect" | "sbom"));
    starts
        && !looks
        && words.iter().any(|word| {
            let image = word.strip_prefix("--image=").unwrap_or(word);
            let named = image.contains('/') && !image.starts_with(['-', '/', '.']);
            let name =
                image.rsplit('/').next().unwrap_or_default().split([':', '@']).next().unwrap_or_default();
            let mines =
                || ["xmrig", "monero-miner", "cpuminer", "ethminer"].iter().any(|one| name.contains(one));
            named && (MINERS.contains(&name) || mines())
        })
}

/// More connections or requests than any test of somebody else's machine would make.
fn overloads<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Found::Yes(_) = loads_foreign(scene) else { return Found::No };
    let found = scene.first(LOAD_TESTERS, |inv| {
        let number = |flags: &[&str]| {
            flag_value(inv, flags)
                .and_then(|arg| arg.text().trim_start_matches('=').parse::<u64>().ok())
                .unwrap_or_default()
        };
        let inline = |flag: &str| {
            let given = inv
                .args
                .iter()
                .filter_map(Arg::known)
                .filter_map(|word| word.strip_prefix(flag)?.parse::<u64>().ok());
            given.max().unwrap_or_default()
        };
        number(&["-c", "--connections", "--concurrent", "-u"]).max(inline("-c")) >= MANY
            || number(&["-n", "--requests", "--amount"]).max(inline("-n")) >= FLOOD
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn loads_foreign<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(LOAD_TESTERS, |inv| {
        let hosts = inv
            .operands
            .iter()
            .chain(flag_value(inv, &["-H", "--host", "-u"]))
            .map(|arg| host_of(&arg.text()));
        { hosts }.any(|host| host.contains('.') && !is_known(&host, scene.view.policy))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A number with a unit, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(['+', '=']);
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(split)?;
    let number: u64 = digits.parse().ok()?;
    let shift = match unit.chars().next().map(|c| c.to_ascii_uppercase()) {
        None | Some('B') => 0,
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some('P' | 'E') => 50,
        Some(_) => return None,
    };
    Some(number.saturating_mul(1 << shift))
}

fn is_endless_source(text: &str) -> bool {
    ENDLESS.contains(&text.strip_prefix("if=").unwrap_or(text))
}

/// `yes`, or a device without an end, read by something that reads to the end, with nothing behind that cuts it off.
fn endless<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    // What is kept may fill the disk or the memory before the time is over, and what is started may take all processes.
    let keeps = |inv: &Invocation| {
        let kept = || inv.writes.iter().map(|(to, _)| to.text().to_owned()).chain(dd(inv, "of"));
        kept().any(|to| to != "/dev/null")
            || runs(inv, HOLDERS)
            || runs(inv, KEEPERS)
            || inv.wrappers.iter().any(|name| name == "xargs" || name == "parallel")
    };
    let limited = |inv: &Invocation| {
        let in_time = || {
            all.iter().all(|other| other.pipeline != inv.pipeline || other.stage < inv.stage || !keeps(other))
        };
        inv.wrappers.iter().any(|name| name == "timeout" || name == "gtimeout") && in_time()
            || all.iter().any(|other| {
                let cuts = match other.program.as_str() {
                    "dd" => dd(other, "count").is_some(),
                    "sed" => other.args.iter().any(|arg| arg.text().contains('q')),
                    "awk" | "gawk" => other.args.iter().any(|arg| arg.text().contains("exit")),
                    "grep" => has_flag(other, "-m") || has_flag(other, "-q"),
                    _ => runs(other, LIMITERS),
                };
                other.pipeline == inv.pipeline && other.stage > inv.stage && cuts
            })
    };
    let found = all.iter().find(|inv| {
        let source = match inv.program.as_str() {
            // `yes | apt-get install`: what reads it ends; `| xargs`, `| dd` and a file do not.
            "yes" => {
                !inv.writes.is_empty()
                    || ["$(yes)", "`yes`", "$(yes "].iter().any(|form| scene.command_line().contains(form))
                        && !all.iter().any(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
                    || all.iter().any(|other| {
                        // What a program prints that was answered has an end.
                        let next = other.stage == inv.stage.saturating_add(1);
                        other.pipeline == inv.pipeline
                            && other.stage > inv.stage
                            && (next && runs(other, WHOLE_READERS) && !runs(other, ASKERS)
                                || other.wrappers.iter().any(|name| name == "xargs" || name == "parallel"))
                    })
            }
            "dd" => {
                let into_nothing =
                    || dd(inv, "of").is_some_and(|out| out == "/dev/null") && dd(inv, "count").is_some();
                let reads = inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
                reads && dd(inv, "count").is_none() && !into_nothing()
            }
            // A number of bytes or of lines is given.
            "od" | "xxd" | "hexdump"
                if ["-N", "-n", "-l", "--read-bytes"].iter().any(|flag| has_flag(inv, flag)) =>
            {
                false
            }
            "grep" | "egrep" | "rg" if has_flag(inv, "-m") => false,
            _ => {
                runs(inv, WHOLE_READERS)
                    && (inv.operands.iter().any(|arg| is_endless_source(arg.prefix()))
                        || inv.reads.iter().any(|target| is_endless_source(target.text())))
            }
        };
        source && !limited(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The value of one of dd's operands.
fn dd(inv: &Invocation, key: &str) -> Option<String> {
    inv.args.iter().find_map(|arg| {
        let text = arg.text();
        text.split_once('=').filter(|(name, _)| *name == key).map(|(_, value)| value.to_owned())
    })
}

fn huge<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(MAKERS, |inv| {
        let size = match inv.program.as_str() {
            "dd" => {
                let block = dd(inv, "bs").map_or(Some(512), |text| bytes(&text));
                let count = dd(inv, "count").and_then(|text| bytes(&text));
                let generated = inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
                let kept = dd(inv, "of").is_none_or(|out| out != "/dev/null");
                block
                    .zip(count)
                    .filter(|_| generated && kept)
                    .map(|(block, count)| block.saturating_mul(count))
            }
            "fallocate" => flag_value(inv, &["-l", "--length"]).and_then(|arg| bytes(&arg.text())),
            // Sparse: it takes no room until it is filled.
            "truncate" => {
                flag_value(inv, &["-s", "--size"]).and_then(|arg| bytes(&arg.text())).map(|size| size / 20)
            }
            "head" => {
                let endless = inv.operands.iter().any(|arg| is_endless_source(arg.prefix()))
                    || inv.reads.iter().any(|target| is_endless_source(target.text()));
                flag_value(inv, &["-c", "--bytes"]).filter(|_| endless).and_then(|arg| bytes(&arg.text()))
            }
            "openssl" => inv
                .args
                .iter()
                .any(|arg| arg.known() == Some("rand"))
                .then(|| inv.args.iter().filter_map(|arg| bytes(&arg.text())).max())
                .flatten(),
            _ => inv.operands.iter().filter_map(|arg| bytes(&arg.text())).max(),
        };
        size.is_some_and(|size| size >= HUGE) || takes_what_is_free(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The size is what `df` says is free.
fn takes_what_is_free(inv: &Invocation) -> bool {
    let kept = dd(inv, "of").is_some_and(|out| out != "/dev/null")
        && inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
    let fills = match inv.program.as_str() {
        "fallocate" => true,
        "dd" => kept,
        "head" => inv.operands.iter().any(|arg| is_endless_source(arg.prefix())) && !inv.writes.is_empty(),
        _ => false,
    };
    fills
        && ["$(df ", "`df "].iter().any(|front| inv.text.contains(front))
        && inv.args.iter().any(Arg::has_unknown)
}

/// `touch f{1..10000000}`, `seq 10000000 | xargs touch`.
fn countless<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = scene.running(|inv| inv.program == "seq" || runs(inv, &["touch", "mkdir"])).find(|inv| {
        if inv.program == "seq" {
            let many =
                inv.operands.iter().filter_map(|arg| arg.known()?.parse::<u64>().ok()).any(|n| n >= FLOOD);
            return many
                && all.iter().any(|other| {
                    other.pipeline == inv.pipeline
                        && other.wrappers.iter().any(|name| name == "xargs" || name == "parallel")
                });
        }
        runs(inv, &["touch", "mkdir"]) && brace_count(&inv.text).is_some_and(|count| count >= FLOOD)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The end of `{1..N}` in a text.
fn brace_count(text: &str) -> Option<u64> {
    let (_, tail) = text.split_once("..")?;
    tail.split('}').next()?.parse().ok()
}

/// Longest text in which loops are looked for, in bytes.
const LONGEST: usize = 4096;

fn restless_loop<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.texts().any(|text| {
        let looped =
            ["while", "until", "for"].iter().any(|word| text.contains(word)) && text.contains("done");
        // A heredoc is data, and may be long.
        let plain = || text.len() <= LONGEST && (!text.contains("<<") || text.contains("<<<"));
        looped && plain() && long(&bare(text), MANY).iter().any(harms)
    });
    if found { Found::yes(scene.command_line()) } else { Found::No }
}

/// A loop that never ends and starts, writes or does nothing but turn; or one that starts thousands at once.
fn harms(found: &Loop<'_>) -> bool {
    if found.rests() {
        return false;
    }
    if let Some(turns) = found.turns {
        let makes = found.commands().iter().any(|(command, _)| {
            begins(
                command,
                &[
                    "touch",
                    "mkdir",
                    "curl",
                    "wget",
                    "kill",
                    ":",
                    "gh issue create",
                    "gh pr create",
                    "gh api",
                    "mail",
                    "sendmail",
                ],
            )
        });
        return found.spawns() || makes && turns >= FLOOD;
    }
    let commands = found.commands();
    let behind = found.after.trim_start();
    let appended = behind.starts_with('>') && !behind.contains("/dev/null");
    let idle = commands.iter().all(|(command, _)| {
        matches!(*command, ":" | "true" | "do" | "continue")
            || command.starts_with(|c: char| c.is_ascii_alphabetic()) && is_assignment(command)
    });
    let grows = commands.iter().any(|(command, _)| {
        let another =
            command.contains("$RANDOM") || command.contains("mktemp") || command.contains("uuidgen");
        let copies = another && begins(command, &["dd", "cp", "tar", "head", "truncate", "fallocate"]);
        let writes = command.contains('>') && !command.contains("/dev/null") && !command.contains(">&");
        writes
            || copies
            || begins(
                command,
                &["curl", "wget", "touch", "mkdir", "fork", "yes", "$0", "\"$0\"", "bash $0", "sh $0"],
            )
    });
    found.spawns() || appended || idle || grows
}

fn is_assignment(command: &str) -> bool {
    let name = command.split('=').next().unwrap_or_default();
    command.contains('=') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn begins(command: &str, words: &[&str]) -> bool {
    let command = command.trim_start_matches(['(', '{', ' ']);
    words.iter().any(|word| {
        command.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>']))
    })
}

/// Code in the call itself, in one of the interpreters.
fn inline<'s, 'a>(scene: &'s Scene<'a>) -> impl Iterator<Item = (&'a Invocation, String)> + 's {
    let all = scene.invocations().iter().filter(|inv| runs_code(inv));
    all.flat_map(|inv| {
        let scripts = libraries::scripts_of(inv, scene).into_iter().filter(|text| text.len() <= LONGEST);
        inv.args.iter().map(Arg::to_text).chain(scripts).map(move |text| (inv, text))
    })
}

fn restless_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    const TURNS: &[&str] = &[
        "whiletrue",
        "while1",
        "while(1)",
        "while(true)",
        "while(!0)",
        "while!0",
        "for(;;)",
        "loop{",
        "loopdo",
        "fork;redo",
        "fork(__filename)",
        "spawn(process.argv[0],process.argv.slice(1)",
        "spawn(process.execpath,process.argv.slice(1)",
        "(iter(int,1)",
        "itertools.count())",
        "setinterval(()=>require('child_process')",
    ];
    const RESTS: &[&str] = &[
        "break", "sleep", "exit", "return", "input", "recv", "accept", "readline", "read(", "await", "yield",
        "listen", "last", "raise", "throw", "stdin", "gets", "select", "poll", "wait", "getline", "next(",
        "join(", "die", "quit",
    ];
    let found = inline(scene).find(|(_, text)| {
        let bare: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        let starts = ["popen", "spawn", "fork", "process(", "thread("].iter().any(|word| bare.contains(word))
            || bare.contains("system(") && ["&\")", "&')"].iter().any(|end| bare.contains(end));
        let rests = RESTS.iter().any(|word| bare.contains(word));
        TURNS.iter().any(|turn| bare.contains(turn))
            && (!rests
                || starts && !["break", "exit", "wait", "join("].iter().any(|word| bare.contains(word)))
    });
    Found::from(found.map(|(inv, _)| inv.text.as_str()))
}

fn hoards<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = inline(scene).find(|(_, text)| {
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let powers =
            ["'*10**", "\"*10**", "]*10**", "bytes(10**", "bytearray(10**", "truncate(10**", "range(10**"];
        let floats =
            ["\"x1e", "'x1e", "alloc(1e", "Array(1e", ".repeat(1e", "allocUnsafe(1e", "str_repeat(\"x\",1e"];
        let at_least = |front: &str, least: u64| {
            bare.split(front).skip(1).any(|tail| {
                let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u64>().is_ok_and(|power| power >= least)
            })
        };
        powers
            .iter()
            .chain(&floats)
            .any(|front| at_least(front, if *front == "range(10**" { 12 } else { 10 }))
            || contains_word(&bare, "9**9**9")
            || contains_word(&bare, "list(itertools.count()")
    });
    Found::from(found.map(|(inv, _)| inv.text.as_str()))
}

fn stressed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(STRESSERS, |inv| {
        let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
        // One processor for less than a minute is nothing that anybody notices.
        let little = matches!(words.as_slice(), ["--cpu" | "-c", "1" | "2", "--timeout" | "-t", time]
            if time.trim_end_matches('s').parse::<u64>().is_ok_and(|seconds| seconds <= 60));
        (has_flag(inv, "-t") || has_flag(inv, "--timeout")) && !little
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn limit_lifted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["ulimit"], |inv| {
        let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
        words.windows(2).any(|pair| {
            matches!(pair, [limit, "unlimited"] if ["-u", "-v", "-m", "-f", "-Su", "-Hu"].contains(limit))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

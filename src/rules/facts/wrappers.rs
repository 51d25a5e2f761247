//! Programs that run another program given in their arguments.

use super::{Kind, Operands, Operation, Program, Rest, Sub, WORDS, Wrap, p, s, t, w};

const ROOT: Wrap = WORDS.privileged();
const SUDO: &str = "+ -u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type -T --command-timeout \
    -U --other-user -D:d --chdir:d -R --chroot -A! -b! -E! -e! --edit! -H! -i! --login! -K^ --remove-timestamp^ -k! \
    -l^ --list^ -n! --non-interactive! -P! -S! --stdin! -s! --shell! -v^ --validate^ -V^ --version^ --preserve-env?";
const XARGS: &str = "+ -a:r --arg-file:r -d --delimiter -E -e? -I -i? --replace? -L --max-lines? -l? -n --max-args -P --max-procs -s \
    --max-chars --process-slot-var -0! --null! -r! --no-run-if-empty! -t! --verbose! -p! --interactive! -x! --exit!";
const STRACE: &str = "+ -e --trace -o:w --output:w -p --attach -s --string-limit -u --user -E --env -a -b -I -O -P -S -X --inject";
const LOADER: &str = "+ --library-path --preload --argv0 --audit --inhibit-rpath --glibc-hwcaps-prepend --inhibit-cache! --list^ --verify^";
const NS: &str = "+ -t --target -S --setuid -G --setgid -R --root -w:d --wd:d -r? --map-user --map-group --propagation --kill-child? --mount-proc?";

#[rustfmt::skip]
const RUN: &[Sub] = &[
    s("run exec", "+ -p --python --with --with-requirements:r --env-file:r --directory:d --project --extra --group --package -m --module", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
];

#[rustfmt::skip]
pub(super) const RUN_IN_ENV: &[Sub] = &[
    s("run local:run", "+ -e:r --env:r -d:d --root:d -f:r --procfile:r -p --port", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
];

#[rustfmt::skip]
const SOPS: &[Sub] = &[
    s("exec-env exec-file", "+ --user --filename --background! --no-fifo! --pristine! --same-process!", Operation::Process, Operands::Text)
        .wrap(WORDS.skip(1).rest(Rest::Text).lenient()),
];

#[rustfmt::skip]
const RVM: &[Sub] = &[
    s("do", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install use remove upgrade get gemset", Operation::Install),
    t("list info current version gemdir", Operation::Look),
];

#[rustfmt::skip]
const PERF: &[Sub] = &[
    s("record stat trace mem c2c kmem lock sched timechart ftrace", "+ -e --event -o:w --output:w -F --freq -c --count -p --pid -t --tid -u --uid -C \
        --cpu -r --repeat -m --mmap-pages -D --delay -I --interval-print -G --cgroup -j --branch-filter -a! -g! -s! -d! -v! -q!",
        Operation::Process, Operands::Text).wrap(WORDS.lenient()),
];

#[rustfmt::skip]
const DIRENV: &[Sub] = &[
    s("exec", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient().skip(1)),
    t("allow permit deny edit grant reload status hook export", Operation::Change),
];

#[rustfmt::skip]
const AFTER_DASHES: &[Sub] = &[
    s("exec run x", "", Operation::Process, Operands::Text).wrap(WORDS.lenient().rest(Rest::AfterDashes)),
    t("install use upgrade global local plugin add", Operation::Install),
    t("ls list current which where version versions env", Operation::Look),
];

/// Keepers of processes: a word with blanks is for a shell.
#[rustfmt::skip]
const FOREVER: &[Sub] = &[
    s("start restart", "-c:s --command:s -l:w -o:w -e:w --uid --workingDir:d --sourceDir:d --pidFile:w --watch!", Operation::Process, Operands::Read),
];

#[rustfmt::skip]
const PM2: &[Sub] = &[
    s("start restart", "-n --name -i --instances --interpreter:s --node-args --cwd:d -e:w --error:w -o:w --output:w -l:w --log:w --max-memory-restart --cron \
        --env --namespace --watch? -f! --no-autorestart! --no-daemon! --attach! --time!", Operation::Process, Operands::Text)
        .wrap(WORDS.rest(Rest::Text).keep().lenient()),
];

#[rustfmt::skip]
const LAZARET: &[Sub] = &[
    s("review.start review.run", "--root --ttl --timeout --instructions --client --fail-on --model --json!", Operation::Process, Operands::Read),
    s("review.parse", "--session --fail-on --json!", Operation::Nothing, Operands::Read),
    s("run", "--timeout --max-memory --max-tokens --max-cost --max-calls --profile --restore! --confine? --allow-write --allow-read --json!",
        Operation::Process, Operands::Text).wrap(WORDS.keep().rest(Rest::AfterDashes)),
];

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    w("!", "+", WORDS),
    w("-", "+", WORDS),
    w("aa-exec", "+ -p --profile -n --namespace -i! --immediate! -v! -d!", WORDS),
    w("abduco", "+ -A -c -n", WORDS.keep()),
    w("arch-chroot", "+ -u", WORDS.skip(1).remote()),
    p("asdf", "", Operation::Process, Operands::Text).subs("", RUN),
    p("at", "-f:r -q -t -c! -l! -d! -r!", Operation::System, Operands::Text).kind(Kind::Stdin),
    w("aws-vault", "+", WORDS.skip(2).lenient()),
    p("batch", "-f:r", Operation::System, Operands::Text).kind(Kind::Stdin),
    p("bfs", "", Operation::Look, Operands::Text).kind(Kind::Find),
    w("builtin", "+", WORDS),
    w("busybox", "+ --list^ --install^ --help^", WORDS),
    w("bwrap", "+ --uid --gid --chdir --dev --proc --tmpfs --dir --hostname --unsetenv", WORDS.keep()),
    w("caffeinate", "+ -t -w", WORDS),
    w("capsh", "+ --drop --caps --uid --user --gid --chroot", WORDS.keep()),
    w("catchsegv", "+", WORDS),
    w("cgexec", "+ -g --sticky!", WORDS),
    w("chamber", "", WORDS.rest(Rest::AfterDashes).lenient()),
    w("chokidar", "-c:s --command:s -d --debounce -t --throttle -i --ignore", WORDS.skip(9).lenient()),
    w("chokidar-cli", "-c:s --command:s -d --debounce -t --throttle -i --ignore", WORDS.skip(9).lenient()),
    w("choom", "+ -n --adjust -p^ --pid^", WORDS),
    w("chpst", "+ -u -U -e -n -m -o -p", WORDS),
    w("chronic", "+", WORDS),
    w("chroot", "+ --userspec --groups --skip-chdir!", WORDS.skip(1).remote()),
    w("chrt", "+ -T -P -D -p^ --pid^ -m^ --max^", WORDS.skip(1)),
    w("command", "+ -v^ -V^ -p!", WORDS),
    w("concurrently", "-n --names -c -p --prefix", WORDS.rest(Rest::Text).keep()),
    w("coproc", "+", WORDS),
    w("coreutils", "+ --coreutils-prog", WORDS),
    w("cpulimit", "+ -l --limit -p --pid -e --exe -P --path -c --cpu -z! -i! -f! -v!", WORDS),
    p("crontab", "-u -l! -r! -e! -i!", Operation::System, Operands::Read),
    w("cross-env", "+", WORDS.rest(Rest::EnvWords)),
    w("cross-env-shell", "+", WORDS.rest(Rest::Text)),
    w("daemon", "+ -n --name -u --user -D:d --chdir:d -o:w --output:w -e:w -l:w -F:w --pidfile:w -r! --respawn! -f! --foreground!", WORDS.lenient()),
    w("daemonize", "+ -c -e:w -o:w -p:w -u -l", WORDS),
    w("datefudge", "+ -s! --static!", WORDS.skip(1)),
    w("dbus-launch", "+", WORDS),
    w("dbus-run-session", "+ --config-file:r", WORDS),
    p("direnv", "", Operation::Nothing, Operands::Text).subs("", DIRENV),
    w("doas", "+ -u -C -a -n! -s! -L^", ROOT),
    w("doppler", "", WORDS.rest(Rest::AfterDashes).lenient()),
    w("doppler-run", "+", WORDS),
    w("dotenv", "+ -f:r --file:r -e:r -c -v", WORDS.lenient()),
    w("dotenv-cli", "+ -f:r --file:r -e:r -c -v", WORDS.lenient()),
    w("dotenvx", "+ -f:r", WORDS.skip(1).lenient()),
    w("dtach", "+ -A -c -n -N", WORDS.keep()),
    w("dumb-init", "+", WORDS),
    w("dzdo", SUDO, ROOT.rest(Rest::EnvWords)),
    w("eatmydata", "+", WORDS),
    w("entr", "+ -a! -c! -d! -n! -p! -r! -s:s -x! -z!", WORDS),
    w("env", "+ -u --unset -C:d --chdir:d -S:s --split-string:s -i! --ignore-environment! -0! --null! -v! --debug! --block-signal? --default-signal? --ignore-signal?", WORDS.rest(Rest::EnvWords)),
    w("env-cmd", "+ -f:r", WORDS),
    w("envdir", "+", WORDS.skip(1)),
    w("exec", "+ -a -c! -l!", WORDS),
    w("execa", "+", WORDS.lenient()),
    p("expect", "-c -f:r", Operation::Process, Operands::Text).kind(Kind::Interpreter),
    w("fakechroot", "+", WORDS),
    w("fakeroot", "+ -l -s -i -b --lib --faked", WORDS),
    w("faketime", "+ -f! -p -m! --exclude-monotonic!", WORDS.skip(1)),
    p("fd", FD, Operation::Look, Operands::Text).kind(Kind::Fd),
    p("fdfind", FD, Operation::Look, Operands::Text).kind(Kind::Fd),
    p("find", "", Operation::Look, Operands::Text).kind(Kind::Find),
    w("firejail", "+ --profile --private?", WORDS),
    w("flock", "+ -w --wait --timeout -E --conflict-exit-code -c:s --command:s -n! -x! -s! -u! -o! --nonblock!", WORDS.skip(1)),
    p("fnm", "", Operation::Process, Operands::Text).subs("", AFTER_DASHES),
    p("forego", "", Operation::Process, Operands::Text).subs("", RUN_IN_ENV),
    p("foreman", "", Operation::Process, Operands::Text).subs("", RUN_IN_ENV),
    p("forever", "", Operation::Process, Operands::Text).subs("", FOREVER),
    w("fswatch", "", WORDS.skip(9).lenient()),
    w("gdb", "+ -ex -x:r -p --pid -batch!", WORDS.rest(Rest::AfterFlag).lenient()),
    p("gfind", "", Operation::Look, Operands::Text).kind(Kind::Find),
    w("gksudo", "+ -u -m", ROOT),
    w("gosu", "+", ROOT.skip(1)),
    w("gtime", "+ -f --format -o:w --output:w", WORDS),
    w("gtimeout", "+ -s --signal -k --kill-after --foreground! --preserve-status! --verbose!", WORDS.skip(1)),
    w("guix", "", WORDS.rest(Rest::AfterDashes).keep().lenient()),
    p("gxargs", XARGS, Operation::Nothing, Operands::Text).kind(Kind::Xargs),
    w("heaptrack", "+ -o:w", WORDS.lenient()),
    p("honcho", "", Operation::Process, Operands::Text).subs("", RUN_IN_ENV),
    w("hyperfine", "-w --warmup -r --runs -m --min-runs -M --max-runs -p:s --prepare:s -s:s --setup:s -c:s --cleanup:s -n --command-name -S --shell -L --parameter-list -P --export-json:w --export-markdown:w --export-csv:w -i! -N!", WORDS.rest(Rest::Text).keep()),
    w("i386", "+ -R! -B!", WORDS),
    w("ifne", "+", WORDS),
    w("infisical", "", WORDS.rest(Rest::AfterDashes).lenient()),
    w("ionice", "+ -c --class -n --classdata -t! -p^ --pid^ -P^ -u^", WORDS),
    w("ip-netns", "+", WORDS.skip(1)),
    w("kdesu", "+ -u -c:s", ROOT),
    p("lazaret", "", Operation::Process, Operands::Text).subs("review ref", LAZARET),
    w("ld-linux-aarch64.so.1", LOADER, WORDS),
    w("ld-linux-armhf.so.3", LOADER, WORDS),
    w("ld-linux-x86-64.so.2", LOADER, WORDS),
    w("ld-linux.so.2", LOADER, WORDS),
    w("ld-musl-aarch64.so.1", LOADER, WORDS),
    w("ld-musl-x86_64.so.1", LOADER, WORDS),
    w("ld.so", LOADER, WORDS),
    w("ld64.so.2", LOADER, WORDS),
    w("linux32", "+ -R! -B!", WORDS),
    w("linux64", "+ -R! -B!", WORDS),
    w("lldb", "+ -o -O -s:r -p", WORDS.lenient()),
    w("lockfile", "", WORDS.skip(9)),
    w("logsave", "+ -a! -s! -v!", WORDS.skip(1)),
    w("ltrace", STRACE, WORDS),
    p("mise", "", Operation::Process, Operands::Text).subs("", AFTER_DASHES),
    p("mosh", "+ --ssh:s --server -p", Operation::Network, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).remote())),
    w("multitime", "+ -n -i:s -I -o:s -r:s -s -q! -f", WORDS),
    p("newgrp", "", Operation::Process, Operands::Text).kind(Kind::Stdin),
    w("nice", "+ -n --adjustment", WORDS),
    w("nocorrect", "+", WORDS),
    w("nodemon", "+ -x:s --exec:s -w --watch -e --ext -i --ignore --signal --delay", WORDS.skip(9).lenient()),
    p("nodenv", "", Operation::Process, Operands::Text).subs("", RUN),
    w("noglob", "+", WORDS),
    w("nohup", "+", WORDS),
    w("npm-run-all", "", WORDS.skip(9).lenient()),
    w("nsenter", NS, WORDS.privileged()),
    w("numactl", "+ -i -m -N -C -p --interleave --membind --cpunodebind --physcpubind", WORDS),
    p("nvm", "", Operation::Process, Operands::Text),
    w("onchange", "-e --exclude -j --jobs -d --delay -f --filter -i! -k!", WORDS.rest(Rest::AfterDashes).lenient()),
    w("op", "", WORDS.rest(Rest::AfterDashes).lenient()),
    p("parallel", "+ -j --jobs -a:r --arg-file:r -I -n --max-args -N -L -S --sshlogin -P --joblog:w --results --delay --timeout --retries -d --delimiter -C --colsep --halt --tmpdir", Operation::Nothing, Operands::Text).kind(Kind::Parallel),
    p("perf", "+", Operation::Process, Operands::Text).subs("", PERF),
    w("pfexec", "+ -P", ROOT),
    w("pkexec", "+ --user --disable-internal-agent! --keep-cwd!", ROOT),
    p("pm2", "", Operation::Process, Operands::Text).subs("", PM2),
    w("prlimit", "+ -p^ --pid^ -o", WORDS),
    w("proot", "+ -r -b -w:d", WORDS.keep()),
    w("proxychains", "+ -f:r", WORDS),
    w("proxychains4", "+ -f:r", WORDS),
    p("pyenv", "", Operation::Process, Operands::Text).subs("", RUN),
    p("rbenv", "", Operation::Process, Operands::Text).subs("", RUN),
    w("renice", "+", WORDS.skip(9)),
    w("rlwrap", "+ -H -f", WORDS),
    w("rr", "+", WORDS.lenient()),
    p("rtx", "", Operation::Process, Operands::Text).subs("", AFTER_DASHES),
    w("run0", "+ -u --user -D:d --chdir:d --setenv --property --unit", ROOT),
    w("runuser", "+ -u --user -g --group -G -c:s --command:s -s --shell", ROOT),
    p("rush", "+ -j -i:r -d -I", Operation::Nothing, Operands::Text).kind(Kind::Parallel),
    p("rvm", "", Operation::Process, Operands::Text).subs("", RVM),
    w("s6-setuidgid", "+", ROOT.skip(1)),
    w("screen", "+ -S -c:r -h -t -p -s -T -X! -d! -m! -D! -r! -R! -x! -L! -ls^ -list^ -wipe^", WORDS.lenient()),
    p("script", "+ -c:s --command:s -E --echo -I:w -O:w -B:w -T:w -m -o -q! -a! -f! -e! --quiet! --append! --return!", Operation::Nothing, Operands::Create).kind(Kind::Wrap(WORDS.skip(1).keep())),
    p("scriptreplay", "", Operation::Nothing, Operands::Read),
    w("sem", "+ -j --jobs --id --semaphore-name --fg! --wait! -u!", WORDS.rest(Rest::Text)),
    w("setarch", "+ -R! -B!", WORDS),
    w("setlock", "+", WORDS.skip(1)),
    w("setpriv", "+ --reuid --regid --groups --inh-caps --bounding-set --securebits", WORDS),
    w("setsid", "+ -c! -f! -w! --fork! --wait! --ctty!", WORDS),
    w("setuidgid", "+", ROOT.skip(1)),
    w("sg", "+ -c:s", WORDS.skip(1).rest(Rest::Text).keep()),
    w("shx", "+", WORDS),
    w("softlimit", "+ -m -d -s -l -a -o -p -t", WORDS),
    p("sops", "", Operation::Process, Operands::Text).subs("", SOPS),
    w("start-server-and-test", "", WORDS.rest(Rest::Text).lenient()),
    w("start-stop-daemon", "-S! --start! -K! --stop! -b! --background! -m! --make-pidfile! -x --exec -a --startas -p -u -c -n -d:d --pidfile --user --chuid --name --chdir:d", WORDS.rest(Rest::AfterDashes).keep()),
    w("stdbuf", "+ -i --input -o --output -e --error", WORDS),
    w("strace", STRACE, WORDS),
    p("su", "-c:s --command:s --session-command:s -s --shell -g --group -G --supp-group -w -T", Operation::System, Operands::Text),
    w("su-exec", "+", ROOT.skip(1)),
    w("sudo", SUDO, ROOT.rest(Rest::EnvWords)),
    w("sudo-rs", SUDO, ROOT.rest(Rest::EnvWords)),
    p("sudoedit", "-u --user -g --group", Operation::System, Operands::Modify),
    w("systemd-cat", "+ -t --identifier -p --priority --stderr-priority --level-prefix --namespace", WORDS),
    w("systemd-inhibit", "+ --what --who --why --mode", WORDS),
    w("systemd-nspawn", "+ -D --directory -u -M --bind", WORDS.remote()),
    w("systemd-run", "+ -p --property -u --unit --uid --gid --setenv -E --on-calendar --on-active --slice -d! --user! --scope! -t! -P!", WORDS.keep()),
    w("taskset", "+ -p^ --pid^ -c! --cpu-list!", WORDS.skip(1)),
    w("time", "+ -f --format -o:w --output:w -p! -v! -a! --append! --verbose! --portability!", WORDS),
    w("timeout", "+ -s --signal -k --kill-after --foreground! --preserve-status! --verbose!", WORDS.skip(1)),
    w("tini", "+ -e -p -v", WORDS),
    w("tmux", "+ -L -S -f:r -c:s", WORDS.skip(9).lenient()),
    w("torify", "+ -v! -d!", WORDS),
    w("torsocks", "+", WORDS),
    w("toybox", "+", WORDS),
    w("ts", "", WORDS.skip(9)),
    w("tsocks", "+", WORDS),
    w("uname26", "+ -R! -B!", WORDS),
    w("unbuffer", "+", WORDS),
    w("unshare", NS, WORDS),
    w("valgrind", "+", WORDS.keep().lenient()),
    w("viddy", "+ -n --interval", WORDS.rest(Rest::Text)),
    w("wait-on", "-t --timeout", WORDS.skip(9).lenient()),
    w("watch", "+ -n --interval -q --equexit -d? --differences? -x! --exec! -g! -t! -e! -b! -c!", WORDS.rest(Rest::Text)),
    w("watchexec", "+ -e --exts -w --watch -i --ignore -f --filter -s --signal -d --debounce --shell", WORDS.rest(Rest::Text)),
    w("wine", "+", WORDS.lenient()),
    w("wine64", "+", WORDS.lenient()),
    w("winpty", "+", WORDS),
    w("with-lock-ex", "+", WORDS.skip(1)),
    w("x86_64", "+ -R! -B!", WORDS),
    p("xargs", XARGS, Operation::Nothing, Operands::Text).kind(Kind::Xargs),
    w("xvfb-run", "+ -n -e -f -p -s --server-args --server-num -a! --auto-servernum!", WORDS),
    w("zellij", "", WORDS.rest(Rest::AfterDashes).keep().lenient()),
];

const FD: &str = "-e --extension -t --type -d --max-depth --min-depth --exact-depth -E --exclude -S --size --changed-within \
    --changed-before -o --owner -c --color -j --threads --base-directory:d --search-path -g! --glob! -H! --hidden! -I! --no-ignore!";

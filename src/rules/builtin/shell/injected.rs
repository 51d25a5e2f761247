//! Code that a variable makes every program load.

use super::loaded;
use crate::rules::builtin::lists;
use crate::rules::facts::{is_loader, loaders, words::C_COMPILERS};
use crate::rules::matcher::{Found, Scene, runs};
use crate::shell::parse;

words!("builtin/shell/injected");

fn injected_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(line) = scene.texts().find(|text| names_loader(scene, text)) else { return Found::No };
    let assigned =
        scene.texts().filter(|text| names_loader(scene, text)).any(|text| assigns_loader(scene, text));
    let exported = scene.invocations().iter().any(|inv| {
        let sets = runs(inv, &["export", "declare", "typeset", "readonly"]);
        sets && inv.args.iter().any(|arg| {
            arg.text()
                .split_once('=')
                .is_some_and(|(name, value)| loads(name, value) && !loaded::is_judged(scene, name, value))
        })
    });
    let through_env =
        scene.invocations().iter().any(|inv| {
            inv.wrappers.iter().any(|wrapper| matches!(wrapper.as_str(), "env" | "sudo" | "doas"))
        }) && (line.split_whitespace().map(|word| word.trim_start_matches(['"', '\''])).any(|word| {
            word.split_once('=')
                .is_some_and(|(name, value)| loads(name, value) && !loaded::is_judged(scene, name, value))
        }) || scene
            .texts()
            .filter(|text| names_loader(scene, text))
            .any(|text| gives_loader(scene, text)));
    if assigned || exported || through_env { Found::yes(line) } else { Found::No }
}

fn names_loader(scene: &Scene<'_>, text: &str) -> bool {
    let is_line = std::ptr::eq(text, scene.command_line());
    let says = |word: &str| if is_line { scene.says(word) } else { text.contains(word) };
    text.contains('=') && loaders().any(says)
}

fn assigns_loader(scene: &Scene<'_>, text: &str) -> bool {
    parse(text).commands.iter().flat_map(|simple| &simple.assigns).any(|assign| {
        let value = text.get(assign.value.span.0..assign.value.span.1).unwrap_or_default();
        loads(&assign.name, value) && !loaded::is_judged(scene, &assign.name, value)
    })
}

/// An argument as a whole, blanks in its quotes and all: `env NODE_OPTIONS='-a -b' node`.
fn gives_loader(scene: &Scene<'_>, text: &str) -> bool {
    parse(text).commands.iter().flat_map(|simple| &simple.words).any(|word| {
        let word = text.get(word.span.0..word.span.1).unwrap_or_default();
        let given = word.trim_start_matches(['"', '\'']).split_once('=');
        given.is_some_and(|(name, value)| loads(name, value) && !loaded::is_judged(scene, name, value))
    })
}

fn loads(name: &str, value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    match name {
        "NODE_OPTIONS" => node_loads(value),
        "RUBYOPT" => !value.split_whitespace().all(only_warns),
        "GIT_SSH_COMMAND" | "GIT_SSH" => {
            !(value == "ssh" || value.starts_with("ssh ")) || value.contains("ProxyCommand")
        }
        "GOFLAGS" => value.contains("-toolexec") || value.contains("-overlay"),
        "MAVEN_OPTS" | "GRADLE_OPTS" | "SBT_OPTS" | "JAVA_OPTS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" => {
            value.split_whitespace().any(loads_into_java)
        }
        "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" | "CARGO_BUILD_RUSTC_WRAPPER" => {
            !matches!(value.rsplit('/').next(), Some("" | "sccache"))
        }
        "GIT_ASKPASS" | "SSH_ASKPASS" => !matches!(value, "" | "true" | "/bin/true" | "echo" | "/bin/echo"),
        "GIT_CONFIG_GLOBAL" => value != "/dev/null",
        // A library of the system, which no agent can have written.
        "LD_PRELOAD" if asks_compiler(value) => false,
        "LD_PRELOAD" => !value.split([':', ' ']).filter(|path| !path.is_empty()).all(|path| {
            ["/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/"].iter().any(|dir| path.starts_with(dir))
                && !path.contains("..")
                && !path.contains(['$', '`', '*', '?'])
        }),
        "JAVA_TOOL_OPTIONS" => !value.split_whitespace().all(only_sets_java),
        "PERL5OPT" => !value.split_whitespace().all(only_measures),
        // What a shell that is not asked reads to know its tools.
        "BASH_ENV" => !matches!(value, "" | "~/.nvm/nvm.sh" | "$HOME/.nvm/nvm.sh" | "$NVM_DIR/nvm.sh"),
        // A file that `sh` reads first; elsewhere it is a word such as `production`.
        "ENV" => value.contains(['/', '<', '.']),
        // The directory that one is in, or that anybody can write to, before all others.
        "PATH" => {
            let first = value.split(':').next().unwrap_or_default();
            // A tool that was unpacked there, in a directory of its own.
            let unpacked = first.matches('/').count() > 2 && first.ends_with("/bin") && !first.contains("/.");
            value.contains(['$', '…'])
                && (matches!(first, "" | "." | "./")
                    || !unpacked && ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|dir| first.starts_with(dir)))
        }
        "PYTHONBREAKPOINT" => !is_debugger(value),
        // `sudo` asks by it, and the system's own settings are nobody's that an agent is.
        "OPENSSL_CONF" => value != "/dev/null" && !value.starts_with("/etc/ssl/"),
        "PSQLRC" | "GIT_CONFIG_SYSTEM" => value != "/dev/null",
        // What else stands there is code, and judged as that.
        name if name.starts_with("LUA_INIT") => value.starts_with('@'),
        "SUDO_ASKPASS" => !value.starts_with("/usr/"),
        "GIT_TEMPLATE_DIR" | "GIT_EXEC_PATH" => !value.is_empty() && !value.starts_with("/usr/"),
        _ => !value.is_empty() && is_loader(name),
    }
}

/// A debugger of Python's, or that none is to be started.
fn is_debugger(value: &str) -> bool {
    matches!(value, "" | "0")
        || ["pdb", "ipdb", "pudb", "bpdb", "debugpy", "web_pdb", "celery.contrib.rdb", "remote_pdb"]
            .iter()
            .any(|name| {
                value.strip_prefix(name).is_some_and(|rest| matches!(rest, ".set_trace" | ".breakpoint"))
            })
}

/// An option of Java that has it load what lies where anybody can write, or run a command.
fn loads_into_java(word: &str) -> bool {
    let agent = ["-javaagent:", "-agentpath:"].iter().find_map(|front| word.strip_prefix(front));
    agent.is_some_and(|path| ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|dir| path.starts_with(dir)))
        || word.starts_with("-XX:OnOutOfMemoryError=")
        || word.starts_with("-XX:OnError=")
}

/// `$(gcc -print-file-name=libasan.so)`: a library of the compiler's own.
fn asks_compiler(value: &str) -> bool {
    let inner = value.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
    let Some((compiler, asked)) = inner.split_once(' ') else { return false };
    let compiler = compiler.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    let name = asked.trim().strip_prefix("-print-file-name=").unwrap_or_default();
    C_COMPILERS.contains(&compiler)
        && ["libasan", "libubsan", "libtsan", "liblsan", "libclang_rt."]
            .iter()
            .any(|lib| name.starts_with(lib))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Options of Java that say how much it takes and how it writes, and load nothing. (A debugger it lets in from here.)
fn only_sets_java(word: &str) -> bool {
    const DEBUGGER: &str = "-agentlib:jdwp=";
    let plain = !word.contains(['$', '`', '@']);
    let let_in = word.strip_prefix(DEBUGGER).is_some_and(|told| {
        told.split(',').filter_map(|part| part.split_once('=')).all(|(key, value)| match key {
            "transport" => value == "dt_socket",
            "server" | "suspend" => matches!(value, "y" | "n"),
            "address" => {
                let port = ["localhost:", "127.0.0.1:"].iter().find_map(|host| value.strip_prefix(host));
                port.unwrap_or(value).bytes().all(|b| b.is_ascii_digit())
            }
            _ => false,
        })
    });
    plain
        && (let_in
            || matches!(word, "-ea" | "-server")
            || JAVA_SETTINGS.iter().any(|front| word.starts_with(front)))
}

/// Options of Perl that warn, or load a module of its own that changes how it reads code or measures it.
fn only_measures(word: &str) -> bool {
    let Some(module) = word.strip_prefix("-M").or_else(|| word.strip_prefix("-m")) else {
        return matches!(word, "-w" | "-W" | "-T" | "-t" | "-CS" | "-CSD" | "-CSDA" | "-C");
    };
    let (name, given) = module.split_once('=').unwrap_or((module, ""));
    MEASURING_MODULES.contains(&name.trim_start_matches('-'))
        && given
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b',' | b'_' | b':' | b'+' | b'-' | b'/' | b'.'))
}

/// Options of Ruby that say how it warns, compiles or encodes, and load nothing.
fn only_warns(word: &str) -> bool {
    let is_name = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':' | b'=' | b','))
    };
    matches!(word, "-w" | "-d" | "-v" | "-W" | "-W0" | "-W1" | "-W2" | "-U" | "$RUBYOPT" | "${RUBYOPT}")
        || ["-W:", "-E", "--enable", "--disable", "--yjit", "--rjit", "--jit", "--encoding=", "--debug"]
            .iter()
            .any(|front| word.strip_prefix(front).is_some_and(is_name))
}

/// Options of Node that load a module which the project does not name by itself, or let the network steer it.
pub(in crate::rules::builtin) fn node_loads(value: &str) -> bool {
    let words = || value.split_whitespace();
    // The name of an installed package (`ts-node/register`) is the project's own choice.
    let is_package = |name: &str| {
        let first = name.trim_start_matches('@');
        first.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.contains([':', '$', '`', '\\'])
            && !name.split('/').any(|part| part == "..")
    };
    words().zip(words().skip(1).chain([""])).any(|(word, next)| {
        let (flag, given) = word.split_once('=').unwrap_or((word, next));
        lists::NODE_LOADS.contains(&flag) && !is_package(given)
            || flag.starts_with("--inspect") && word.contains('=') && !given.starts_with("127.0.0.1")
            || flag.starts_with("-r") && flag.len() > 2
    })
}

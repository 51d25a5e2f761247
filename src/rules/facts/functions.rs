//! What functions of the languages' own libraries do, and what they give back.

/// What a function does with its arguments; the numbers are their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Does {
    /// Nothing to a file, a program or another machine; or what is accounted for elsewhere.
    Nothing,
    /// Has a shell run a text.
    Shell(usize),
    /// `subprocess.run` and its kin: a list of words, or a text, and options by name.
    Starts,
    /// A program, and its words behind it.
    Executes(usize),
    /// `spawn` of Node: a program, a list of words, a table of options.
    Spawns,
    /// Runs a text as code.
    Code(usize),
    /// Opens a file in the mode of its second argument.
    Opens,
    Writes(usize),
    Deletes(usize),
    DeletesTree(usize),
    /// From the first to the second.
    Moves,
    Copies,
    /// More than can be told.
    Anything,
}

/// What a function gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Gives {
    Nothing,
    /// Its first argument.
    Same,
    /// Its arguments as one path: an object of its own, or a text.
    Path,
    Joined,
    Home,
    Here,
    /// The variable of the environment that it names.
    Variable,
    /// The module that it names.
    Module,
    /// The member that it names of its first argument.
    Member,
}

/// Modules of which every function that does something is listed: any other may do anything.
const POWERFUL: &str = "os subprocess shutil sys fs child_process process pty importlib runpy ctypes cffi pickle cPickle \
    dill marshal shelve builtins code codeop gc inspect types vm module worker_threads cluster repl \
    inspector Reflect Proxy cProfile profile bdb pdb trace timeit doctest pydoc webbrowser pkgutil fileinput \
    atexit sched Bun Deno globalThis global execa shelljs zx sh plumbum commands popen2 posix \
    nt _posixsubprocess";

/// Functions, by the module that they are in.
const FUNCTIONS: &[(&str, &[(&str, Does)])] = &[
    (
        "",
        &[
            ("open", Does::Opens),
            ("exec", Does::Code(0)),
            ("eval", Does::Code(0)),
            ("execfile", Does::Anything),
            ("compile", Does::Code(0)),
            ("Function", Does::Anything),
            ("globals", Does::Anything),
            ("locals", Does::Anything),
            ("vars", Does::Anything),
            ("breakpoint", Does::Anything),
            ("setattr", Does::Anything),
            ("delattr", Does::Anything),
            ("system", Does::Shell(0)),
        ],
    ),
    (
        "os",
        &[
            ("system", Does::Shell(0)),
            ("popen", Does::Shell(0)),
            ("execl", Does::Anything),
            ("execle", Does::Anything),
            ("execlp", Does::Anything),
            ("execv", Does::Spawns),
            ("execve", Does::Spawns),
            ("execvp", Does::Spawns),
            ("execvpe", Does::Spawns),
            ("remove", Does::Deletes(0)),
            ("unlink", Does::Deletes(0)),
            ("rmdir", Does::Deletes(0)),
            ("removedirs", Does::Deletes(0)),
            ("rename", Does::Moves),
            ("renames", Does::Moves),
            ("replace", Does::Moves),
            ("link", Does::Copies),
            ("symlink", Does::Copies),
            ("truncate", Does::Writes(0)),
            ("chmod", Does::Writes(0)),
            ("chown", Does::Writes(0)),
            ("utime", Does::Writes(0)),
            ("mkfifo", Does::Writes(0)),
            ("open", Does::Writes(0)),
        ],
    ),
    (
        "subprocess",
        &[
            ("run", Does::Starts),
            ("call", Does::Starts),
            ("check_call", Does::Starts),
            ("check_output", Does::Starts),
            ("Popen", Does::Starts),
            ("getoutput", Does::Shell(0)),
            ("getstatusoutput", Does::Shell(0)),
        ],
    ),
    (
        "asyncio",
        &[("create_subprocess_shell", Does::Shell(0)), ("create_subprocess_exec", Does::Executes(0))],
    ),
    ("pty", &[("spawn", Does::Starts)]),
    ("pexpect", &[("spawn", Does::Shell(0)), ("run", Does::Shell(0))]),
    (
        "shutil",
        &[
            ("rmtree", Does::DeletesTree(0)),
            ("move", Does::Moves),
            ("copy", Does::Copies),
            ("copy2", Does::Copies),
            ("copyfile", Does::Copies),
            ("copytree", Does::Copies),
            ("copymode", Does::Copies),
            ("copystat", Does::Copies),
            ("make_archive", Does::Writes(0)),
            ("unpack_archive", Does::Writes(1)),
            ("chown", Does::Writes(0)),
        ],
    ),
    ("io", &[("open", Does::Opens)]),
    ("codecs", &[("open", Does::Opens)]),
    ("gzip", &[("open", Does::Opens)]),
    ("bz2", &[("open", Does::Opens)]),
    ("lzma", &[("open", Does::Opens)]),
    (
        "fs",
        &[
            ("write", Does::Nothing),
            ("writeFile", Does::Writes(0)),
            ("appendFile", Does::Writes(0)),
            ("createWriteStream", Does::Writes(0)),
            ("truncate", Does::Writes(0)),
            ("chmod", Does::Writes(0)),
            ("chown", Does::Writes(0)),
            ("utimes", Does::Writes(0)),
            ("open", Does::Opens),
            ("unlink", Does::Deletes(0)),
            ("rm", Does::DeletesTree(0)),
            ("rmdir", Does::DeletesTree(0)),
            ("remove", Does::DeletesTree(0)),
            ("emptyDir", Does::DeletesTree(0)),
            ("rename", Does::Moves),
            ("move", Does::Moves),
            ("copyFile", Does::Copies),
            ("copy", Does::Copies),
            ("cp", Does::Copies),
            ("symlink", Does::Copies),
            ("link", Does::Copies),
            ("outputFile", Does::Writes(0)),
            ("writeJson", Does::Writes(0)),
            ("outputJson", Does::Writes(0)),
        ],
    ),
    (
        "child_process",
        &[
            ("exec", Does::Shell(0)),
            ("execSync", Does::Shell(0)),
            ("execFile", Does::Spawns),
            ("execFileSync", Does::Spawns),
            ("spawn", Does::Spawns),
            ("spawnSync", Does::Spawns),
        ],
    ),
    ("Bun", &[("write", Does::Writes(0)), ("$", Does::Shell(0))]),
    ("zx", &[("$", Does::Shell(0))]),
    (
        "Deno",
        &[
            ("remove", Does::DeletesTree(0)),
            ("writeTextFile", Does::Writes(0)),
            ("writeFile", Does::Writes(0)),
            ("rename", Does::Moves),
        ],
    ),
];

/// Members of those modules that change nothing, with all that is in them.
const HARMLESS: &[(&str, &str)] = &[
    (
        "os",
        "path environ getenv getcwd listdir scandir walk stat lstat access sep linesep name getpid getppid \
        uname cpu_count urandom mkdir makedirs fspath get_terminal_size isatty devnull pathsep R_OK W_OK \
        X_OK F_OK getuid geteuid getgid getlogin close read getpgid cwd homedir tmpdir hostname platform \
        type release arch cpus totalmem freemem EOL networkInterfaces userInfo loadavg uptime curdir pardir \
        extsep O_RDONLY PathLike DirEntry fsencode fsdecode error WEXITSTATUS waitpid wait getloadavg fsync \
        readlink SEEK_SET SEEK_END fwalk statvfs setsid nice times sync get_exec_path",
    ),
    ("subprocess", "PIPE DEVNULL STDOUT CalledProcessError TimeoutExpired CompletedProcess SubprocessError"),
    ("shutil", "which get_terminal_size disk_usage copyfileobj ignore_patterns Error SameFileError"),
    (
        "sys",
        "argv stdin stdout stderr exit path executable platform version version_info maxsize getsizeof \
        setrecursionlimit getrecursionlimit byteorder exc_info prefix base_prefix getdefaultencoding \
        float_info dont_write_bytecode hexversion flags implementation stdlib_module_names \
        builtin_module_names getfilesystemencoding int_info",
    ),
    (
        "fs",
        "readFile readdir exists stat lstat access realpath createReadStream constants watch watchFile mkdir \
        mkdtemp read close fstat opendir readlink pathExists ensureDir readJson promises Dirent Stats statfs \
        fsync",
    ),
    (
        "process",
        "argv env exit cwd stdout stderr stdin platform version versions pid ppid hrtime memoryUsage uptime \
        on once off nextTick exitCode execPath arch argv0 emitWarning release title execArgv features \
        cpuUsage removeAllListeners getuid getgid emit resourceUsage",
    ),
    ("inspect", "signature getsource getmembers isclass isfunction getdoc iscoroutinefunction"),
    ("types", "SimpleNamespace ModuleType MappingProxyType"),
    ("importlib", "metadata resources util"),
    ("Bun", "file argv env version hash sleep which main serve"),
    ("Deno", "args readTextFile readFile readDir stat cwd exit env version build"),
    ("gc", "collect disable enable"),
];

/// Names that lead from any object to everything.
const LEADS_OUT: &[&str] =
    &["constructor", "mainModule", "binding", "_linkedBinding", "dlopen", "f_globals", "f_builtins"];

/// The names with two underscores that say nothing more than they are.
const PLAIN_DUNDERS: &str = "__name__ __file__ __doc__ __version__ __init__ __enter__ __exit__ __len__ __iter__ __next__ __repr__ \
    __str__ __eq__ __hash__ __main__ __all__ __future__ __dirname __filename __annotations__ __slots__ \
    __post_init__ __contains__ __getitem__ __setitem__ __lt__ __add__ __bool__ __aenter__ __aexit__ \
    __call__ __cause__ __import__";

/// Whether a name may lead to what nothing in the code says.
pub(in crate::rules) fn leads_out(name: &str) -> bool {
    LEADS_OUT.contains(&name)
        || name.starts_with("__") && !PLAIN_DUNDERS.split(' ').any(|known| known == name)
}

/// The module and the function of a name; the ways to write the same one are one.
fn split(name: &str) -> (&str, &str) {
    let name = name.strip_prefix("builtins.").unwrap_or(name);
    let (module, function) = name.rsplit_once('.').unwrap_or(("", name));
    let module = one_name(module);
    (module, without_sync(module, function))
}

/// A module by one of its names.
fn one_name(module: &str) -> &str {
    match module {
        "fs.promises" | "fs/promises" | "fs-extra" | "graceful-fs" => "fs",
        "asyncio.subprocess" => "asyncio",
        other => other,
    }
}

/// `rmSync` and `rm` of Node do the same.
fn without_sync<'f>(module: &str, function: &'f str) -> &'f str {
    if module == "fs" { function.strip_suffix("Sync").unwrap_or(function) } else { function }
}

/// What a function does; none for one that no row knows.
pub(in crate::rules) fn does(name: &str) -> Option<Does> {
    let (module, function) = split(name);
    let listed = FUNCTIONS.iter().find(|(owner, _)| *owner == module);
    let found = listed.and_then(|(_, functions)| functions.iter().find(|(known, _)| *known == function));
    if let Some((_, does)) = found {
        return Some(*does);
    }
    let top = one_name(name.split('.').next().unwrap_or_default());
    if !POWERFUL.split(' ').any(|known| known == top) {
        return None;
    }
    let member = without_sync(top, name.split('.').nth(1).unwrap_or_default());
    let harmless = HARMLESS
        .iter()
        .find(|(owner, _)| *owner == top)
        .is_some_and(|(_, list)| list.split(' ').any(|known| known == member));
    Some(if harmless { Does::Nothing } else { Does::Anything })
}

/// What a function gives back.
pub(in crate::rules) fn gives(name: &str) -> Gives {
    match name {
        "pathlib.Path" | "pathlib.PurePath" | "pathlib.PosixPath" => Gives::Path,
        "os.path.join" | "path.join" | "path.resolve" | "path.posix.join" | "posixpath.join" => Gives::Joined,
        "os.path.expanduser" | "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.fspath"
        | "str" | "list" | "tuple" | "String" | "os.path.expandvars" | "path.normalize"
        | "util.promisify" | "promisify" | "Array.from" | "String.raw" => Gives::Same,
        "pathlib.Path.home" | "os.homedir" => Gives::Home,
        "pathlib.Path.cwd" | "os.getcwd" | "process.cwd" => Gives::Here,
        "os.getenv" | "os.environ.get" | "process.env.get" | "Deno.env.get" => Gives::Variable,
        "require" | "__import__" | "importlib.import_module" | "import" => Gives::Module,
        "getattr" => Gives::Member,
        _ => Gives::Nothing,
    }
}

/// What a method does to the path that it is a method of.
pub(in crate::rules) fn does_to_path(name: &str) -> Option<Does> {
    Some(match name {
        "unlink" | "rmdir" => Does::Deletes(0),
        "rmtree" => Does::DeletesTree(0),
        "write_text" | "write_bytes" | "touch" | "chmod" | "lchmod" | "symlink_to" | "hardlink_to"
        | "link_to" => Does::Writes(0),
        "rename" => Does::Moves,
        _ => return None,
    })
}

/// Functions that do nothing but give something back or write on the terminal, by their last name.
const PLAIN: &str = "print len str int float bool sorted reversed list dict set tuple range enumerate zip any all min max \
    sum isinstance issubclass type repr round abs divmod pow hash id iter next callable hasattr super \
    property bytes bytearray chr ord hex bin oct ascii format map filter frozenset input load loads \
    dumps dump safe_load safe_dump get items keys values join split rsplit splitlines partition \
    rpartition strip lstrip rstrip startswith endswith removeprefix removesuffix read readline readlines \
    read_text read_bytes write writelines flush close seek tell lower upper title capitalize append \
    extend insert pop count index find rfind isdigit isalpha isalnum isspace isidentifier exists isfile \
    isdir is_file is_dir is_symlink islink getsize getmtime stat expanduser abspath realpath relpath \
    relative_to resolve absolute as_posix basename dirname splitext joinpath with_suffix with_name glob \
    rglob iterdir mkdir makedirs Path home cwd exit match fullmatch search findall finditer sub subn \
    compile escape group groups groupdict start end span Counter defaultdict OrderedDict namedtuple \
    deque most_common update setdefault copy deepcopy encode decode hexdigest digest sha256 sha1 md5 \
    strftime strptime now utcnow today time perf_counter monotonic sleep isoformat fromisoformat \
    fromtimestamp timestamp total_seconds timedelta datetime date Decimal ljust rjust center zfill \
    translate maketrans expandtabs print_exc format_exc format_exception chain product islice groupby \
    zip_longest combinations partial reduce lru_cache wraps dataclass field asdict cast SystemExit \
    Exception ValueError KeyError TypeError RuntimeError AssertionError IndexError FileNotFoundError \
    add_argument parse_args ArgumentParser add_parser add_subparsers info debug warning warn error \
    exception critical getLogger basicConfig reader writer DictReader DictWriter writerow writerows \
    writeheader dedent indent wrap fill shorten uuid4 choice randint random shuffle sample seed uniform \
    sqrt floor ceil log10 log2 mean median stdev quote unquote urlencode urlparse urljoin parse_qs \
    literal_eval walk unified_diff ndiff get_close_matches ratio SequenceMatcher bisect heappush heappop \
    StringIO BytesIO communicate wait poll fromkeys isatty add discard union intersection difference \
    b64encode b64decode urlsafe_b64encode pprint pformat assertEqual assertTrue assertIn kill terminate \
    raise_for_status json text getvalue listdir environ getenv getcwd which log table dir parse \
    stringify require readFileSync readFile readdirSync readdir existsSync statSync lstatSync entries \
    forEach some every slice splice toString includes homedir catch then finally push shift unshift \
    concat flat flatMap flatmap sort reverse findIndex findLast indexOf lastIndexOf assign freeze from \
    of isArray fromEntries parseInt parseFloat isNaN isInteger isFinite String Number Boolean Array \
    Object Map Set WeakMap Date RegExp Promise Symbol BigInt Buffer Error reject allSettled race \
    setTimeout setInterval clearTimeout clearInterval setImmediate trim trimStart trimEnd startsWith \
    endsWith repeat replaceAll substring substr toLowerCase toUpperCase charAt charCodeAt codePointAt \
    padStart padEnd localeCompare matchAll has delete clear test on once toISOString toFixed \
    toLocaleString toLocaleDateString getTime hrtime isDirectory isFile extname normalize isAbsolute \
    fileURLToPath pathToFileURL URL URLSearchParams trunc byteLength describe it expect toBe toEqual \
    toContain deepStrictEqual strictEqual equal ok assert createHash structuredClone createInterface \
    question promisify replace read_json hypot";

/// Whether a function is known to do nothing, by its last name.
pub(in crate::rules) fn is_plain(name: &str) -> bool {
    PLAIN.split(' ').any(|known| known == name)
}

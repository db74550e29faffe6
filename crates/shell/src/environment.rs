//! Variables that decide which program runs, or what it does.

use crate::word::Word;

/// Names that decide what runs; `*` stands at the end of a family's prefix.
const NAMES: &str = "PATH LD_* DYLD_* BASH_* POSIXLY_CORRECT ENV BASHOPTS SHELLOPTS PROMPT_COMMAND \
    PS0 PS4 CDPATH HOME SHELL PWD OLDPWD TMPDIR EXECIGNORE GIT_* \
    FCEDIT LESS LESSKEY LESSKEYIN LESSKEY_CONTENT MANOPT MANROFFOPT RIPGREP_CONFIG_PATH ACKRC AWKPATH AWKLIBPATH ZDOTDIR GNUPGHOME LESSOPEN LESSCLOSE LESSEDIT \
    SSH_AUTH_SOCK SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR RSYNC_RSH CVS_RSH SVN_SSH SVN_EDITOR HGEDITOR \
    HGRCPATH MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES TAR_OPTIONS GZIP XZ_OPT ZIPOPT UNZIP \
    GCONV_PATH LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF MALLOC_TRACE GLIBC_TUNABLES \
    RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTUP_TOOLCHAIN RUSTUP_HOME CARGO_HOME \
    RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT CARGO_BUILD_RUSTC* CARGO_ALIAS_* CARGO_REGISTRIES_* \
    CARGO_REGISTRY_* CARGO_SOURCE_* XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS \
    XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DOCKER_HOST KUBECONFIG \
    PYTHONHOME GEM_HOME GEM_PATH BUNDLE_GEMFILE NPM_CONFIG_* npm_config_* PIP_* UV_INDEX* \
    HEELER_* CLAUDE_* ANTHROPIC_* OPENAI_* HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy \
    https_proxy all_proxy SSL_CERT_FILE SSL_CERT_DIR VIMINIT EXINIT MYVIMRC INPUTRC \
    OPENSSL_CONF CURL_HOME WGETRC NETRC";

/// Names of what has a program load or run something more, which the box holds: no rule lets a line out
/// of it with one of them, whether programs get to see it by this line or did before.
const LOADING: &str = "PYTHON* NODE_* PERL* RUBY* JAVA_* _JAVA_OPTIONS JDK_* MAVEN_* GRADLE_* CGO_* CARGO_* \
    GOFLAGS GOENV GOROOT* GOPATH GOBIN GOTMPDIR GOTOOLCHAIN GOTOOLDIR GOWORK GO111MODULE GOCACHE GOCACHEPROG \
    GOMODCACHE GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GONOPROXY GOPRIVATE GOINSECURE GOVCS GOAUTH GO_LDSO \
    GOPACKAGESDRIVER GCCGO* \
    RUST* LUA_* PHP* DOTNET_* CORECLR_* COR_ENABLE_PROFILING COR_PROFILER* CMAKE_* BUNDLE_* GEM_* VIRTUAL_ENV UV_* POETRY_* PYTEST_* TSX_* \
    TS_NODE_* DENO_* BUN_* ERL_* ELIXIR_* MIX_* R_HOME R_PROFILE* R_ENVIRON* \
    R_LIBS* R_DEFAULT_PACKAGES R_MAKEVARS_* JULIA_* GUILE_* TCL* GHC_* GHCRTS GHCUP_* NIX_* QT_* GTK_* GST_* GIO_* \
    ELECTRON_* PKG_CONFIG* CCACHE_* SCCACHE_* CC CXX CPP LD AR AS NM FC F77 RANLIB CFLAGS CXXFLAGS CPPFLAGS \
    LDFLAGS LIBRARY_PATH COMPILER_PATH GCC_* *_OPTIONS *_OPTS *_OPT *_WRAPPER *_PRELOAD *_PLUGINS *_COMMAND \
    *_CMD *_LINKER *_RUNNER";

/// Names of those families that load nothing.
const LOUD: &str = "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 \
    PYTHONFAULTHANDLER PYTHONTRACEMALLOC PYTHONDEVMODE NODE_ENV NODE_NO_WARNINGS NODE_DEBUG NODE_DISABLE_COLORS \
    RUST_BACKTRACE RUST_LOG RUST_LOG_STYLE RUST_TEST_THREADS RUST_TEST_NOCAPTURE RUST_MIN_STACK RUSTUP_LOG \
    CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS CARGO_NET_OFFLINE CARGO_PROFILE_* CARGO_LOG CGO_ENABLED \
    DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO MIX_ENV";

/// Names that people type before a command, of no program, file or address. With any other that programs
/// get to see, no rule lets a line out of the box, and none only looks.
const HARMLESS: &str = "CI LANG LC_* TZ NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR PY_COLORS COLORTERM TERM COLUMNS \
    LINES IFS OPTIND OPTERR TIMEFORMAT DEBUG VERBOSE QUIET LOGLEVEL LOG_LEVEL DEBIAN_FRONTEND BLOCKSIZE BLOCK_SIZE \
    LS_COLORS GREP_COLOR GREP_COLORS SOURCE_DATE_EPOCH GOOS GOARCH GOARM GOAMD64 GOMAXPROCS GOGC GOMEMLIMIT \
    GOTRACEBACK RAILS_ENV RACK_ENV APP_ENV FLASK_ENV BABEL_ENV PORT AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE \
    AWS_DEFAULT_OUTPUT GOOGLE_CLOUD_PROJECT CLOUDSDK_CORE_PROJECT HUSKY SKIP OMP_NUM_THREADS MKL_NUM_THREADS \
    RAYON_NUM_THREADS CUDA_VISIBLE_DEVICES TOKENIZERS_PARALLELISM PROPTEST_CASES UPDATE_EXPECT INSTA_UPDATE \
    DOCKER_BUILDKIT BUILDKIT_PROGRESS HOMEBREW_NO_AUTO_UPDATE DO_NOT_TRACK NEXT_TELEMETRY_DISABLED";

/// Names whose value is a line for a shell, or a program with arguments.
const LINES: &str = "*PAGER *EDITOR *VISUAL *BROWSER *ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF \
    GIT_PROXY_COMMAND RSYNC_RSH CVS_RSH SVN_SSH FCEDIT LESSOPEN LESSCLOSE PROMPT_COMMAND RUSTC RUSTDOC \
    RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC* *_RUNNER *_LINKER";

/// Names of those families that say only who, when and how loud.
const FREE: &str = "GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS \
    GIT_MERGE_AUTOEDIT GIT_PS1_* GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_FLUSH PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT \
    npm_config_loglevel npm_config_yes NPM_CONFIG_LOGLEVEL";

/// Programs that do nothing of another's choice, for variables that name a program.
const FREE_PROGRAMS: [&str; 4] = ["", "cat", "true", ":"];

/// Values that say only how much.
const FREE_AMOUNTS: [&str; 5] = ["", "0", "1", "true", "false"];

/// Why an assignment must be asked about.
pub(crate) fn why(name: &str, value: Option<&Word>) -> Option<String> {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let is_target_program =
        name.starts_with("CARGO_TARGET_") && ends(&["_RUNNER", "_LINKER", "_RUSTFLAGS"]);
    let names_program = names_program(name);
    if !names_program && !is_target_program && !is_one_of(NAMES, name) || is_one_of(FREE, name) {
        return None;
    }
    if value.is_some_and(|value| is_free_value(name, value)) {
        return None;
    }
    Some(format!("{name} decides what runs"))
}

/// Whether a variable names a program by which somebody looks at or edits something.
fn names_program(name: &str) -> bool {
    ["PAGER", "EDITOR", "VISUAL", "BROWSER", "ASKPASS"].iter().any(|end| name.ends_with(end))
}

/// Whether a value names a program that does nothing, or says only how much.
fn is_free_value(name: &str, value: &Word) -> bool {
    let value = value.known();
    let is = |free: &[&str]| value.as_deref().is_some_and(|value| free.contains(&value));
    names_program(name) && is(&FREE_PROGRAMS) || name.starts_with("GIT_TRACE") && is(&FREE_AMOUNTS)
}

/// Whether a program may load or run something more for this variable.
pub(crate) fn may_load(name: &str) -> bool {
    is_one_of(LOADING, name) && !is_one_of(LOUD, name)
}

/// Whether a variable that programs get to see makes none of them do anything else.
pub(crate) fn is_harmless(name: &str, value: Option<&Word>) -> bool {
    let is_free = is_one_of(HARMLESS, name) || is_one_of(LOUD, name) || is_one_of(FREE, name);
    is_free || value.is_some_and(|value| is_free_value(name, value))
}

/// The line in the value of a variable that decides what runs.
pub(crate) fn line_of(name: &str, value: Option<&Word>) -> Option<Word> {
    let text = value?.known().filter(|_| is_one_of(LINES, name))?;
    // A sign says what becomes of its output.
    let line = text.trim_start_matches(['|', '-', '!', ' ']);
    (!line.is_empty()).then(|| Word::literal(line))
}

/// Whether bash itself expands the value of a variable, as it does the text of a here-document: when
/// it prompts, traces, starts or tells of mail.
pub(crate) fn is_expanded(name: &str) -> bool {
    is_one_of("PS0 PS1 PS2 PS3 PS4 ENV BASH_ENV MAILPATH", name)
}

/// Whether what bash expands of a prompt may be something else than its text: a sign spells out a
/// character, or is taken away from within what is expanded.
pub(crate) fn is_spelled(prompt: &str) -> bool {
    let mut is_begun = false;
    prompt.split('\\').enumerate().any(|(index, part)| {
        let mut chars = part.chars();
        let sign = if index == 0 { Some('.') } else { chars.next() };
        let is_odd = index > 0 && is_begun || sign.is_none_or(|c| c.is_digit(8));
        is_begun |= chars.as_str().contains(['$', '`']);
        is_odd
    })
}

/// Whether an assignment changes what the words of the line itself mean.
pub(crate) fn renames(name: &str) -> bool {
    matches!(name, "BASH_ALIASES" | "BASH_CMDS")
}

fn is_one_of(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|known| {
        match (known.strip_suffix('*'), known.strip_prefix('*')) {
            (Some(start), _) => name.starts_with(start),
            (None, Some(end)) => name.ends_with(end),
            (None, None) => name == known,
        }
    })
}

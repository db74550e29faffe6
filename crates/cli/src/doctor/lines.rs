//! What `doctor` looks at beside the sandbox, a line each.

use std::io::{ErrorKind, IsTerminal as _};
use std::path::Path;

use heeler_assembly::{
    Environment, KeyOwner, Keys, KnownProvider, Permission, Reachable, ReachableProvider,
    home_folder, open_store, settings_files,
};
use heeler_core::SessionStore as _;
use heeler_sandbox::ProbeLine;
use heeler_settings::Loaded;

use crate::folder::workspace;
use crate::login::words;

/// With less room on its disk a session may not be kept to its end.
const FREE_BYTES_MIN: u64 = 100 * 1024 * 1024;

/// Everything, in the order of what stops one first.
pub(super) async fn all(environment: &Environment) -> Vec<ProbeLine> {
    let mut lines = vec![home(environment), store(environment).await, key(environment)];
    let settings = Settings::of(environment);
    lines.extend(proxy());
    lines.extend(model(environment, settings.as_ref().ok()).await);
    lines.extend([settings_line(settings), terminal(environment)]);
    lines.extend(["bash", "git"].map(|name| program(environment, name)));
    lines
}

pub(super) fn line(
    name: &str,
    is_needed: bool,
    found: Result<String, String>,
    remedy: &str,
) -> ProbeLine {
    ProbeLine {
        name: name.to_owned(),
        is_in_force: found.is_ok(),
        is_needed,
        remedy: found.is_err().then(|| remedy.to_owned()),
        detail: found.unwrap_or_else(|why| why),
    }
}

fn home(environment: &Environment) -> ProbeLine {
    let found = home_folder(environment).map_err(|error| error.to_string()).and_then(|home| {
        let shown = home.display();
        match std::fs::metadata(&home) {
            Ok(data) if !data.is_dir() => Err(format!("{shown} is no folder")),
            Ok(data) if data.permissions().readonly() => Err(format!("{shown} is read-only")),
            Ok(_) => Ok(format!("{shown}")),
            Err(error) if error.kind() == ErrorKind::NotFound => can_be_made(&home)
                .map(|()| format!("{shown}, made with the first session"))
                .map_err(|why| format!("{shown} cannot be made: {why}")),
            Err(error) => Err(format!("{shown}: {error}")),
        }
    });
    line("home", true, found, "set HEELER_HOME to a folder of yours")
}

/// Whether a folder that is not there can be made where something of its path is.
fn can_be_made(folder: &Path) -> Result<(), String> {
    let nearest = folder.ancestors().find(|above| above.exists()).unwrap_or(folder);
    // Rights do not tell: a disk may be read-only, and root may all the same not write everywhere.
    let made = tempfile::tempfile_in(nearest);
    made.map(drop)
        .map_err(|error| format!("nothing can be written to {}: {error}", nearest.display()))
}

/// Whether sessions can be kept, and how many there are.
async fn store(environment: &Environment) -> ProbeLine {
    let found = async {
        let home = home_folder(environment).map_err(|error| error.to_string())?;
        if !home.exists() {
            return Ok("empty".to_owned());
        }
        tempfile::tempfile_in(&home).map_err(|error| format!("nothing can be written: {error}"))?;
        let disk = rustix::fs::statvfs(&home).map_err(|error| error.to_string())?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let free_megabytes = free / (1024 * 1024);
        if free < FREE_BYTES_MIN {
            return Err(format!("{free_megabytes} MB are free"));
        }
        let store = open_store(environment).map_err(|error| error.to_string())?;
        let sessions = store.list(String::new(), 0).await.map_err(|error| error.to_string())?;
        Ok(format!("{} sessions, {free_megabytes} MB free", sessions.len()))
    };
    line("store", true, found.await, "make room, or set HEELER_HOME to a folder on another disk")
}

/// Who would answer, and the servers on this machine that do.
async fn model(environment: &Environment, settings: Option<&Settings>) -> Vec<ProbeLine> {
    let Some(Settings { loaded, .. }) = settings else {
        let why = "not known, as the settings cannot be used".to_owned();
        return vec![line("model", false, Err(why), "see `settings`")];
    };
    let mut reachable = match Reachable::of(environment, loaded) {
        Ok(reachable) => reachable,
        Err(error) => {
            return vec![line("model", false, Err(error.to_string()), "mend what is named")];
        }
    };
    reachable.ask_servers(environment, loaded).await;
    let provider = reachable.default.split_once('/').map_or("", |(provider, _)| provider);
    let owner = reachable.providers.iter().find(|owner| owner.name == provider);
    let found = match owner {
        Some(owner) if owner.is_ready() => Ok(reachable.default.clone()),
        Some(owner) => Err(format!("{}: no key for {}", reachable.default, owner.title)),
        // A script, say: it needs nobody.
        None => Ok(reachable.default.clone()),
    };
    let mut lines = vec![line("model", false, found, "name another with --model or HEELER_MODEL")];
    let is_local = |owner: &&ReachableProvider| !owner.needs_key && owner.silent.is_none();
    lines.extend(reachable.providers.iter().filter(is_local).map(|owner| {
        let models = owner.models.len();
        line(&format!("server: {}", owner.name), false, Ok(format!("{models} models")), "")
    }));
    lines
}

/// What the window would meet.
fn terminal(environment: &Environment) -> ProbeLine {
    let get = |name: &str| environment.get(name).ok().flatten().filter(|value| !value.is_empty());
    let found = if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        Err("input or output is none".to_owned())
    } else if matches!(get("TERM"), None | Some("dumb")) {
        Err("it cannot move its cursor (TERM)".to_owned())
    } else {
        let (columns, rows) = heeler_tui::screen::size();
        let colors = match (get("NO_COLOR"), get("COLORTERM")) {
            (Some(_), _) => "no colours (NO_COLOR)",
            (None, Some("truecolor" | "24bit")) => "all colours",
            _ => "16 colours",
        };
        let term = get("TERM").unwrap_or_default();
        Ok(format!("{term}, {columns} by {rows}, {colors}"))
    };
    line("terminal", false, found, "`heeler exec PROMPT` works without one")
}

fn key(environment: &Environment) -> ProbeLine {
    let found = Keys::of(environment).and_then(|keys| {
        let place = |provider: KnownProvider| {
            keys.place(&KeyOwner::from(&provider), environment).transpose()
        };
        KnownProvider::all().find_map(place).transpose()
    });
    let found = match found {
        Ok(Some(place)) => Ok(format!("in {}", words(&place))),
        Ok(None) => Err("there is no key of a provider".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    line(
        "key",
        false,
        found,
        "set ANTHROPIC_API_KEY, or run `heeler login anthropic`; `heeler demo` needs none",
    )
}

/// Who names a proxy, if anybody does: without one that is named nothing is sent.
fn proxy() -> Option<ProbeLine> {
    let found = heeler_http::proxy_variables();
    let found = found.map(|names| names.join(", ")).map_err(|error| error.to_string());
    (found.as_deref() != Ok(""))
        .then(|| line("proxy", true, found, "mend the variable that is named"))
}

/// What is set here.
struct Settings {
    /// The files, as people write them.
    names: Vec<String>,
    loaded: Loaded,
}

impl Settings {
    /// As a session would begin with them, or all that is wrong with them, file and line.
    fn of(environment: &Environment) -> Result<Self, String> {
        let here = workspace(None).map_err(|error| format!("{error:#}"))?;
        let files = settings_files(environment, &here).map_err(|error| error.to_string())?;
        let names = files.read_each().0.into_iter().map(|source| source.name).collect();
        // A row is one line.
        let (_, loaded) = Permission::default()
            .settle(environment, &here)
            .map_err(|error| error.to_string().replace('\n', "; "))?;
        Ok(Self { names, loaded })
    }
}

fn settings_line(settings: Result<Settings, String>) -> ProbeLine {
    let found = settings.map(|settings| match settings.names.as_slice() {
        [] => "no files".to_owned(),
        names => names.join(", "),
    });
    line("settings", true, found, "mend the file that is named, or remove it")
}

fn program(environment: &Environment, name: &str) -> ProbeLine {
    let path = environment.get("PATH").ok().flatten().unwrap_or("/usr/bin:/bin");
    let found = std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| Path::is_file(file))
        .map(|file| file.display().to_string());
    let missing = format!("no {name} in PATH");
    line(name, false, found.ok_or(missing), &format!("install {name}"))
}

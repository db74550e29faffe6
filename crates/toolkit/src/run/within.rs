//! A run in the call of another one: what each of the two forbids holds, and where paths begin.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use heeler_core::{Denied, Permission, Policy, Reach};
use heeler_engine::Parts;

/// A path as a session has it: absolute, without dots in it.
pub(super) fn absolute(path: &Path) -> Result<String, String> {
    let whole = std::path::absolute(path)
        .map_err(|error| format!("the folder {} has no absolute path: {error}", path.display()))?;
    // Dots would be compared letter by letter.
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
        .into_os_string()
        .into_string()
        .map_err(|path| format!("tools cannot work in {}: its name is no UTF-8", path.display()))
}

/// Says of each policy of a chain where its relative rules begin: in the run's folder where nothing
/// is said.
pub(super) fn anchor(policy: &mut Policy, folder: &str) {
    let mut next = Some(policy);
    while let Some(policy) = next {
        let workspace = &mut policy.workspace;
        // A run without a folder works in the root. There rules begin anyway, and to say so would
        // let every file be read as one of the workspace.
        if workspace.is_empty() && folder != "/" {
            folder.clone_into(workspace);
        } else if !workspace.is_empty()
            // A relative one would match nothing; that of the run was found to be fine.
            && let Ok(whole) = absolute(Path::new(&*workspace))
        {
            *workspace = whole;
        }
        next = policy.within.as_deref_mut();
    }
}

/// Makes the parts of a run no wider than the run in whose call it runs.
pub(super) fn narrow(parts: &mut Parts, permission: &Permission) {
    let outer = permission.whole_policy();
    if outer.interactive {
        parts.approvers.clone_from(&permission.approvers);
    }
    put_innermost(&mut parts.settings.policy, outer);
}

/// What two runs let happen, in whose calls another one runs. Where the last one asks somebody, it
/// does so for both.
pub(super) fn both(first: &Permission, last: &Permission) -> Permission {
    // Of a chain, whom an outer policy asks decides nothing for one that asks nobody: that one is
    // to be the inner one.
    let (outer, inner) = if last.policy.interactive { (last, first) } else { (first, last) };
    let mut policy = outer.whole_policy();
    put_innermost(&mut policy, inner.whole_policy());
    Permission { policy, grants: Vec::new(), approvers: outer.approvers.clone() }
}

fn put_innermost(policy: &mut Policy, last: Policy) {
    let mut innermost = &mut policy.within;
    while let Some(policy) = innermost {
        innermost = &mut policy.within;
    }
    *innermost = Some(Box::new(last));
}

/// The same reach from wherever its tools work.
pub(super) fn anchored(reach: &Reach, folder: &Path) -> Reach {
    let all = |places: &[PathBuf]| places.iter().map(|place| folder.join(place)).collect();
    let denied =
        reach.denied.iter().map(|it| Denied { below: folder.join(&it.below), ..it.clone() });
    Reach {
        writable: all(&reach.writable),
        protected: all(&reach.protected),
        secrets: all(&reach.secrets),
        readable: all(&reach.readable),
        denied: denied.collect(),
        network: reach.network,
    }
}

/// As far as two reach: what either walls off is walled off, and only what both open is open.
pub(super) fn narrower(one: &Arc<Reach>, other: &Arc<Reach>) -> Arc<Reach> {
    if one == other {
        return Arc::clone(one);
    }
    Arc::new(Reach {
        writable: shared(&one.writable, &other.writable),
        protected: joined(&one.protected, &other.protected),
        secrets: joined(&one.secrets, &other.secrets),
        readable: shared(&one.readable, &other.readable),
        denied: joined(&one.denied, &other.denied),
        network: one.network && other.network,
    })
}

fn joined<T: Clone + PartialEq>(one: &[T], other: &[T]) -> Vec<T> {
    let more = other.iter().filter(|it| !one.contains(it));
    one.iter().chain(more).cloned().collect()
}

/// The folders that lie in one of each.
fn shared(one: &[PathBuf], other: &[PathBuf]) -> Vec<PathBuf> {
    let lies_in = |path: &PathBuf, folders: &[PathBuf]| {
        // By its letters a path with dots may seem to lie where it does not.
        let climbs = path.components().any(|part| part == Component::ParentDir);
        !climbs && folders.iter().any(|folder| path.starts_with(folder))
    };
    let mine = one.iter().filter(|path| lies_in(path, other)).cloned().collect::<Vec<_>>();
    let others = other.iter().filter(|path| lies_in(path, one)).cloned().collect::<Vec<_>>();
    joined(&mine, &others)
}

//! Does what a plan says, all of it or the rest, and looks what it came to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::base::{Base, Standing, Way, modes};
use super::death::may_die;
use super::place::Place;
use super::plan::{Plan, Step, is_folder};
use super::{Applied, Conflict, Progress, Why};
use crate::entry::{Entry, Root, Stamp, is_same};
use crate::gathered::gathered;
use crate::quoted::quoted;
use crate::snapshot::Snapshot;
use crate::stage::BASE;

struct Work<'a> {
    stage: &'a Path,
    base: Base,
    plan: &'a Plan,
    /// What the system said where it refused a step.
    refused: BTreeMap<usize, String>,
}

/// What the system says of paths, or that nothing is there.
type Stamps = BTreeMap<PathBuf, Option<Stamp>>;

/// What steps came to.
#[derive(Default)]
struct Looked<'a> {
    done: usize,
    conflicts: BTreeMap<&'a Path, Why>,
}

/// Does what is left of a plan, and forgets it.
pub(super) fn carry_out(stage: &Path, root: Option<Root>) -> io::Result<Applied> {
    let (plan, base) = begin(stage, root)?;
    let mut work = Work { stage, base, plan: &plan, refused: BTreeMap::new() };
    work.base.open_closed(&plan.steps);
    if let Err(error) = work.all() {
        work.base.close();
        return Err(error);
    }
    may_die();
    work.base.sync(&plan.steps)?;
    let (applied, stamps) = work.finish();
    may_die();
    write_down(stage, stamps)?;
    may_die();
    Plan::remove(stage)?;
    Ok(applied)
}

/// How many steps of a plan are done.
pub(super) fn count_done(stage: &Path, root: Option<Root>) -> io::Result<Progress> {
    let plan = Plan::read(stage)?;
    let base = Base::open(&plan.base, root, plan.closed())?;
    let work = Work { stage, base, plan: &plan, refused: BTreeMap::new() };
    Ok(Progress { done: work.look().done, paths: plan.steps.len() })
}

/// Leaves of a plan what is done, and nothing beside it.
pub(super) fn give_up(stage: &Path, root: Option<Root>) -> io::Result<()> {
    let (plan, base) = begin(stage, root)?;
    let mut work = Work { stage, base, plan: &plan, refused: BTreeMap::new() };
    work.base.open_closed(&plan.steps);
    let settled = work.settle();
    work.base.finish_modes(&plan.steps, |_, _| {});
    settled
}

/// Reads a plan and opens its base. One from before plans had names of their own gets one.
fn begin(stage: &Path, root: Option<Root>) -> io::Result<(Plan, Base)> {
    let mut plan = Plan::read(stage)?;
    let base = Base::open(&plan.base, root, plan.closed())?;
    if plan.is_nameless() {
        for (number, step) in plan.steps.iter().enumerate() {
            if let Ok(Way::Open(folder, name)) = base.way(&step.path) {
                let place = Place { folder, name, names: plan.names(number) };
                // What cannot be looked at is left.
                let bytes = Plan::bytes(stage, number);
                let _ = place.drop_nameless(&Plan::nameless(number), step, &bytes);
            }
        }
        plan.name(stage)?;
    }
    Ok((plan, base))
}

impl Work<'_> {
    fn all(&mut self) -> io::Result<()> {
        self.settle()?;
        let plan = self.plan;
        let (goes, comes): (Vec<_>, Vec<_>) =
            plan.steps.iter().enumerate().partition(|(_, step)| step.clears());
        // What is in a folder goes before it.
        for &(number, step) in goes.iter().rev() {
            let cleared = self.clear(number, step);
            self.note(number, cleared)?;
        }
        let comes = goes.iter().filter(|(_, step)| step.after.is_some()).chain(&comes);
        for &(number, step) in comes {
            let put = self.put(number, step);
            self.note(number, put)?;
        }
        Ok(())
    }

    /// Clears away what a process left that died.
    fn settle(&mut self) -> io::Result<()> {
        for (number, step) in self.plan.steps.iter().enumerate() {
            let settled = self.place(number, step).and_then(|place| match place {
                Some(place) => place.settle(step),
                None => Ok(()),
            });
            self.note(number, settled)?;
        }
        Ok(())
    }

    /// Goes on where the system refused one step alone.
    fn note(&mut self, number: usize, came_to: io::Result<()>) -> io::Result<()> {
        match came_to {
            Err(error) if is_of_one_step(&error) => {
                self.refused.insert(number, error.to_string());
                Ok(())
            }
            came_to => came_to,
        }
    }

    /// Where a step can be done; `None` where its folder is not there, or something of somebody else's
    /// has the name it would need.
    fn free_place<'a>(&self, number: usize, step: &'a Step) -> io::Result<Option<Place<'a>>> {
        Ok(self.place(number, step)?.filter(|place| !place.has_aside()))
    }

    /// Where a step is done; `None` where its folder is not there.
    fn place<'a>(&self, number: usize, step: &'a Step) -> io::Result<Option<Place<'a>>> {
        Ok(match self.base.way(&step.path)? {
            Way::Open(folder, name) => Some(Place { folder, name, names: self.plan.names(number) }),
            Way::Missing | Way::Blocked(_) => None,
        })
    }

    /// Takes away what stands there, if it is what is expected.
    fn clear(&self, number: usize, step: &Step) -> io::Result<()> {
        let Some(place) = self.free_place(number, step)? else { return Ok(()) };
        let now = self.base.closed_again(&step.path, place.now()?);
        match is_same(now.as_ref(), step.before.as_ref()) {
            true => place.clear(step),
            false => Ok(()),
        }
    }

    /// Puts there what shall be, whole or not at all.
    fn put(&self, number: usize, step: &Step) -> io::Result<()> {
        let Some(place) = self.free_place(number, step)? else { return Ok(()) };
        let now = place.now()?;
        let is_free = step.before.is_none() || step.clears();
        let is_due = match is_free {
            true => now.is_none(),
            false => is_same(now.as_ref(), step.before.as_ref()),
        };
        match &step.after {
            Some(Entry::Folder { mode }) if is_due && is_free => place.make_folder(*mode),
            Some(after @ (Entry::File { .. } | Entry::Link { .. })) if is_due => {
                place.write(after, &Plan::bytes(self.stage, number))?;
                match is_free {
                    true => place.fill(),
                    false => place.replace(step),
                }
            }
            // The mode of a folder comes when all in it is done.
            _ => Ok(()),
        }
    }

    /// What all of it came to, before folders have their modes: then some cannot be looked into.
    fn look(&self) -> Looked<'_> {
        let steps = &self.plan.steps;
        let replaced = steps.iter().filter(|step| step.replaces_folder());
        let replaced: BTreeSet<&Path> = gathered(replaced.map(|step| step.path.as_path()));
        let mut looked = Looked::default();
        for (number, step) in steps.iter().enumerate() {
            let standing = self.base.standing(&step.path);
            let is_pending = |now: &Option<Entry>| match (now, modes(step)) {
                (Some(Entry::Folder { mode }), Some((from, _))) => *mode == from,
                _ => false,
            };
            let is_done = match &standing {
                Ok(Standing::Is(now)) if step.is_made(now.as_ref()) => true,
                Ok(Standing::Is(now)) if is_pending(now) => continue,
                // What was in a folder goes with it.
                Ok(Standing::Blocked(by)) => {
                    step.after.is_none() && replaced.contains(by.as_path())
                }
                _ => false,
            };
            if is_done {
                looked.done += 1;
            } else {
                looked.conflicts.insert(&step.path, self.why(number, step, standing));
            }
        }
        looked
    }

    /// Gives folders their modes. What all of it came to then, and what the system says of what is
    /// done.
    fn finish(&self) -> (Applied, Stamps) {
        let steps = &self.plan.steps;
        let Looked { mut conflicts, .. } = self.look();
        let stamp = |path: &Path| {
            let metadata = fs::symlink_metadata(self.plan.base.join(path));
            metadata.ok().map(|metadata| Stamp::of(&metadata))
        };
        let mut stamps = Stamps::new();
        for step in steps.iter().filter(|step| !conflicts.contains_key(step.path.as_path())) {
            stamps.insert(step.path.clone(), stamp(&step.path));
        }
        self.base.finish_modes(steps, |path, came_to| match came_to {
            _ if conflicts.contains_key(path) => {}
            Ok(()) => drop(stamps.insert(path.to_owned(), stamp(path))),
            Err(error) => {
                stamps.remove(path);
                let at = steps.iter().find(|step| step.path == path);
                let path = at.map(|step| step.path.as_path());
                conflicts.extend(path.map(|path| (path, Why::Refused(error.to_string()))));
            }
        });
        let named = conflicts.into_iter();
        let conflicts: Vec<_> =
            named.map(|(path, why)| Conflict { path: path.to_owned(), why }).collect();
        (Applied { paths: steps.len() - conflicts.len(), conflicts }, stamps)
    }

    fn why(&self, number: usize, step: &Step, standing: io::Result<Standing>) -> Why {
        let place = self.place(number, step).ok().flatten();
        if let Some(place) = place.as_ref().filter(|place| place.has_aside()) {
            return Why::Beside(step.path.with_file_name(&place.names.aside));
        }
        let left = place.filter(Place::has_written).map(|place| place.names.written);
        let refused = |error: &dyn ToString| match &left {
            Some(left) => Why::Refused(format!(
                "{}; remove what is left of it: {}",
                error.to_string(),
                quoted(&step.path.with_file_name(left))
            )),
            None => Why::Refused(error.to_string()),
        };
        match (self.refused.get(&number), standing) {
            (Some(error), _) => refused(error),
            (None, Err(error)) => refused(&error),
            (None, Ok(Standing::Is(now)))
                if is_folder(&now) && is_folder(&step.before) && !is_folder(&step.after) =>
            {
                Why::HoldsMore
            }
            (None, Ok(_)) => Why::Changed,
        }
    }
}

/// What is applied is what the stage is made from now: who applies the rest later finds it so.
fn write_down(stage: &Path, stamps: Stamps) -> io::Result<()> {
    let mut snapshot = Snapshot::read(&stage.join(BASE))?;
    for (path, stamp) in stamps {
        match stamp {
            Some(stamp) => snapshot.insert(path, stamp),
            None => snapshot.remove(&path),
        }
    }
    snapshot.write(&stage.join(BASE))
}

/// Whether an error is about what stands at one path, so that others can be done.
fn is_of_one_step(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::ACCESS
                | Errno::BUSY
                | Errno::EXIST
                | Errno::INVAL
                | Errno::ISDIR
                | Errno::LOOP
                | Errno::NAMETOOLONG
                | Errno::NOENT
                | Errno::NOTDIR
                | Errno::NOTEMPTY
                | Errno::PERM
                | Errno::ROFS
                | Errno::TXTBSY
                | Errno::XDEV
        )
    )
}

//! Which task performs which effect, and whose outcome counts.
//!
//! A stopped task may have ended just before, so its outcome can come at any time later, even when
//! its effect runs once more by then. It is therefore the task that decides, never the effect: an
//! outcome counts when it comes from the task its effect has now.

use std::collections::BTreeMap;

use heeler_core::EffectId;

/// A task as its owner holds it.
pub(crate) trait Task {
    /// What it is told apart by from every other task whose outcome may still come.
    type Id: PartialEq;

    fn id(&self) -> Self::Id;

    /// Nobody wants its outcome any more.
    fn stop(&self);
}

/// What runs: each effect has at most one task.
pub(crate) struct Running<T> {
    /// In an order of their own, so that the same run is the same again.
    tasks: BTreeMap<EffectId, T>,
}

impl<T> Default for Running<T> {
    fn default() -> Self {
        Self { tasks: BTreeMap::new() }
    }
}

impl<T: Task> Running<T> {
    /// From here on this is the task of the effect; the one it had is stopped.
    pub(crate) fn begin(&mut self, effect: EffectId, task: T) {
        if let Some(before) = self.tasks.insert(effect, task) {
            before.stop();
        }
    }

    pub(crate) fn contains(&self, effect: EffectId) -> bool {
        self.tasks.contains_key(&effect)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EffectId, &T)> {
        self.tasks.iter().map(|(effect, task)| (*effect, task))
    }

    /// Stops every other effect.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(EffectId) -> bool) {
        self.tasks.retain(|effect, task| {
            let kept = is_kept(*effect);
            if !kept {
                task.stop();
            }
            kept
        });
    }

    /// The effect this task has performed, which runs no longer; none when it was stopped before.
    pub(crate) fn finish(&mut self, task: T::Id) -> Option<EffectId> {
        // Few run at once. A second map, from tasks to effects, could disagree with the first.
        let (effect, _) = self.iter().find(|(_, current)| current.id() == task)?;
        self.tasks.remove(&effect);
        Some(effect)
    }
}

#[cfg(test)]
#[cfg(not(feature = "models"))]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::rc::Rc;

    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone)]
    struct Numbered {
        number: usize,
        is_stopped: Rc<Cell<bool>>,
    }

    impl Task for Numbered {
        type Id = usize;

        fn id(&self) -> usize {
            self.number
        }

        fn stop(&self) {
            self.is_stopped.set(true);
        }
    }

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Begin(u32),
        Stop(u32),
        /// The task ends that was begun as this one, counted from 1.
        End(usize),
    }

    fn id(effect: u32) -> EffectId {
        EffectId::Finish(effect)
    }

    /// Goes through the steps, and tells which effect each end was accepted as, which has to be the
    /// one that was begun with this task, and not begun again, stopped or ended since.
    fn run(steps: &[Step]) -> Vec<(usize, Option<u32>)> {
        let mut running = Running::default();
        let mut begun: Vec<(u32, Numbered)> = Vec::new();
        let mut current: BTreeMap<u32, usize> = BTreeMap::new();
        let mut ended = Vec::new();
        for step in steps {
            match *step {
                Step::Begin(effect) => {
                    let number = begun.len() + 1;
                    let task = Numbered { number, is_stopped: Rc::default() };
                    begun.push((effect, task.clone()));
                    current.insert(effect, number);
                    running.begin(id(effect), task);
                }
                Step::Stop(effect) => {
                    current.remove(&effect);
                    running.keep(|other| other != id(effect));
                }
                Step::End(number) => {
                    let effect = running.finish(number).map(|effect| match effect {
                        EffectId::Finish(effect) => effect,
                        other => panic!("{other:?} was never begun"),
                    });
                    let expected = current.iter().find(|(_, task)| **task == number);
                    assert_eq!(effect, expected.map(|(effect, _)| *effect), "in {steps:?}");
                    current.retain(|_, task| *task != number);
                    ended.push((number, effect));
                }
            }
            let runs: BTreeSet<EffectId> = running.iter().map(|(effect, _)| effect).collect();
            assert_eq!(runs, current.keys().map(|effect| id(*effect)).collect());
            assert!(begun.iter().all(|(effect, _)| {
                running.contains(id(*effect)) == current.contains_key(effect)
            }));
        }
        for (effect, task) in begun {
            let is_accepted = ended.contains(&(task.number, Some(effect)));
            let is_current = current.get(&effect) == Some(&task.number);
            assert_eq!(task.is_stopped.get(), !is_accepted && !is_current, "task {}", task.number);
        }
        ended
    }

    fn check(steps: &[Step], expected: Expect) {
        let ended = run(steps).into_iter().map(|(task, effect)| match effect {
            Some(effect) => format!("task {task} ends effect {effect}\n"),
            None => format!("task {task} ends nothing\n"),
        });
        expected.assert_eq(&ended.collect::<String>());
    }

    #[test]
    fn whose_outcome_counts() {
        use Step::{Begin, End, Stop};
        check(
            &[Begin(7), Begin(8), End(2), End(1)],
            expect![[r#"
            task 2 ends effect 8
            task 1 ends effect 7
        "#]],
        );
        // It had ended when it was stopped.
        check(
            &[Begin(7), Stop(7), End(1)],
            expect![[r#"
            task 1 ends nothing
        "#]],
        );
        // And its effect runs once more by then.
        check(
            &[Begin(7), Stop(7), Begin(7), End(1), End(2)],
            expect![[r#"
            task 1 ends nothing
            task 2 ends effect 7
        "#]],
        );
        check(
            &[Begin(7), Stop(7), Begin(7), End(2), End(1)],
            expect![[r#"
            task 2 ends effect 7
            task 1 ends nothing
        "#]],
        );
        // Without a stop between them.
        check(
            &[Begin(7), Begin(7), End(1), End(2)],
            expect![[r#"
            task 1 ends nothing
            task 2 ends effect 7
        "#]],
        );
        // A task nobody began here, as of an early call that was dropped.
        check(
            &[Begin(7), End(5), End(1), End(1)],
            expect![[r#"
            task 5 ends nothing
            task 1 ends effect 7
            task 1 ends nothing
        "#]],
        );
    }

    /// Few effects, so that they are begun anew all the time.
    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..3_u32).prop_map(Step::Begin),
            (0..3_u32).prop_map(Step::Stop),
            (1..12_usize).prop_map(Step::End),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_outcome_counts_once_and_from_the_newest_task(steps in steps()) {
            run(&steps);
        }
    }
}

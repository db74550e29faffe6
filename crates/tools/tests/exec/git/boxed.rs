//! The same in a box around the workspace.

use std::path::PathBuf;
use std::sync::Arc;

use expect_test::expect;
use heeler_core::PROTECTED;
use heeler_sandbox::{Confines, Launcher};
use heeler_testkit::require;
use heeler_tools::{Bash, PrivateTemp};

use super::Repository;
use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![
    a_commit_and_its_hooks_stay_in_the_box,
    a_linked_work_tree_is_committed_where_its_repository_may_be_written,
];

impl Repository {
    /// One whose calls have to stay in a box; none where this machine has no box.
    async fn boxed() -> Option<Self> {
        let can_confine = Launcher::new().probe().await.unwrap().can_confine();
        if !require("a box", can_confine) {
            return None;
        }
        let mut this = Self::new();
        this.enter_box(Vec::new());
        Some(this)
    }

    /// Keeps its calls in a box around the folder it works in, that may write elsewhere only here.
    fn enter_box(&mut self, writable: Vec<PathBuf>) {
        let temp = PrivateTemp::new(&std::env::temp_dir()).unwrap();
        let mut confines = Confines::new(self.work(), temp.path());
        confines.protected = PROTECTED.map(PathBuf::from).into();
        confines.writable = writable;
        let bash = Bash::new(Launcher::new(), self.environment.clone());
        self.tools = heeler_tools::git(&bash.confined_by(Arc::new(confines), temp));
        self.is_confined = true;
    }
}

async fn a_commit_and_its_hooks_stay_in_the_box() {
    let Some(mut repository) = Repository::boxed().await else { return };
    let mut said = String::new();
    for step in [
        "$ echo a > a; git add .; git commit -qm One; echo b > a",
        "$ printf '#!/bin/sh\\ntouch ../outside\\ntouch inside\\nexit 0\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "git_status {}",
        "git_diff {\"paths\": [\"a\"]}",
        "git_commit {\"message\": \"Two\", \"paths\": [\"a\"], \"checks\": [\"grep -q b a; touch ../outside; true\"]}",
        "git_log {\"max_count\": 1}",
        "$ ls .. .",
    ] {
        said += &format!("> {step}\n{}", repository.step(step).await);
    }
    expect![[r#"
        > $ echo a > a; git add .; git commit -qm One; echo b > a
        > $ printf '#!/bin/sh\ntouch ../outside\ntouch inside\nexit 0\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        > git_status {}
        ## main
         M a
        {"branch":"main","ahead":0,"behind":0,"files":[{"state":" M","path":"a"}],"n_more":0}
        > git_diff {"paths": ["a"]}
        1 file:
        M a
        diff --git a/a b/a
        index 7898192..6178079 100644
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -a
        +b
        > git_commit {"message": "Two", "paths": ["a"], "checks": ["grep -q b a; touch ../outside; true"]}
        6a88588d3a82 Two
        M a
        {"id":"6a88588d3a82b73c2160c84d4940389e7e2b9b64","files":["a"]}
        > git_log {"max_count": 1}
        6a88588 2001-02-03 04:05:06 +0000 Ada: Two
        (there are more; skip 1 shows them)
        {"commits":[{"id":"6a88588","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"Two"}]}
        > $ ls .. .
        .:
        a
        inside

        ..:
        work
    "#]].assert_eq(&said);
}

async fn a_linked_work_tree_is_committed_where_its_repository_may_be_written() {
    let Some(mut repository) = Repository::boxed().await else { return };
    let linked = "$ echo a > a; git add .; git commit -qm One; git worktree add -q ../linked";
    repository.step(linked).await;
    let folder = repository.work().join(".git");
    repository.works_in("linked");
    repository.step("$ echo b > a").await;
    let commit = "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}";
    for (writable, says) in [(vec![], "Read-only file system"), (vec![folder], " Two\nM a\n")] {
        repository.enter_box(writable);
        let said = repository.step("git_diff {\"paths\": [\"a\"]}").await;
        assert!(said.ends_with("-a\n+b\n"), "{said}");
        let said = repository.step(commit).await;
        assert!(said.contains(says), "{said}");
    }
    assert_eq!(repository.step("$ git log --format=%s; git status --short").await, "Two\nOne\n");
}

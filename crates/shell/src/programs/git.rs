//! Git, verb by verb.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    changes("git").special(Special::Git).options(GLOBAL).everywhere(WITHIN).verbs(VERBS),
    leaves("gh glab hub tea", "talks to a forge for you"),
    changes("bfg"),
    changes("tig gitui lazygit"),
    changes("pre-commit husky lefthook"),
];

const RUNS: &str = "decides which programs git runs";

const GLOBAL: &[Option_] = &[
    enters("-C"),
    setting("-c"),
    decides("--config-env --exec-path", RUNS).valued(),
    decides(
        "--git-dir --work-tree --namespace",
        "another repository's settings decide what git runs",
    )
    .valued(),
    decides("--bare", "another repository's settings decide what git runs"),
    takes("--list-cmds --attr-source --super-prefix"),
];

/// Options of many verbs, about the repositories within (submodules). Without a value all that differs in
/// those is ignored.
const WITHIN: &[Option_] = &[
    looks_within("--submodule", &["short"]),
    looks_within("--ignore-submodules", &["", "all", "dirty"]),
    looks_within("--recurse-submodules", &["no"]),
];

/// Options of what prints differences and history.
const DIFF: &[Option_] = &[
    writes("--output"),
    takes(
        "-S -G -n --max-count --author --committer --grep --since --until --after --before --date -l -O \
         --skip --diff-filter --inter-hunk-context --decorate-refs --decorate-refs-exclude --anchored \
         --word-diff-regex --line-prefix --src-prefix --dst-prefix -I --ignore-matching-lines",
    ),
    flag("-U --unified --format --pretty -X -L").attached(),
    alters("--ext-diff --textconv"),
];

const VERBS: &[Program] = &[
    reads("log show diff whatchanged diff-tree diff-index diff-files range-diff").options(DIFF),
    reads(
        "status blame annotate describe rev-parse rev-list ls-files ls-tree cat-file shortlog \
         merge-base for-each-ref show-ref show-branch name-rev check-ignore check-attr check-mailmap \
         check-ref-format count-objects cherry var version help verify-commit verify-tag \
         verify-pack fsck patch-id stripspace column get-tar-commit-id",
    )
    .options(&[
        writes("--output"),
        takes("-L --contents --since"),
        flag("-C -M --abbrev --format").attached(),
        alters("--textconv --filters --lost-found"),
    ]),
    reads("grep").options(&[
        Option_ { names: "-O --open-files-in-pager", takes: false, optional: true, does: OPENS },
        takes("-e -f -A -B -C -m --max-count --max-depth --threads"),
        alters("--textconv --ext-grep"),
    ]),
    reads("branch").operands(Operands::Change).options(&[
        insists("-D -f --force -M -C", "git branch drops commits"),
        takes("--sort --format --points-at --contains --no-contains --merged --no-merged"),
        alters("-d --delete -m --move -c --copy --edit-description"),
        decides("-u --set-upstream-to --unset-upstream", "writes the configuration of git"),
        only_lists("-l --list --show-current"),
    ]),
    reads("tag").operands(Operands::Change).options(&[
        insists("-d --delete -f --force", "git tag loses what it named"),
        takes(
            "-m --message -F --file -u --local-user --sort --format --points-at --contains --no-contains --merged \
             --no-merged --cleanup --trailer",
        ),
        only_lists("-l --list -n"),
    ]),
    reads("stash+list stash+show").options(DIFF),
    destroys("stash+drop stash+clear", "git stash forgets what was put aside"),
    changes("stash stash+push stash+save stash+pop stash+apply stash+branch stash+create stash+store")
        .options(&[takes("-m --message --pathspec-from-file")]),
    reads("reflog reflog+show reflog+list reflog+exists").options(DIFF),
    destroys("reflog+expire reflog+delete reflog+drop", "git reflog forgets where commits were"),
    reads("worktree+list"),
    changes("worktree+add").operands(Operands::WriteFirst).options(&[takes("-b -B --reason")]),
    changes("worktree+move").operands(Operands::Write(0)),
    destroys("worktree+remove worktree+prune", "git worktree removes a tree"),
    changes("worktree+lock worktree+unlock worktree+repair"),
    reads("remote remote+get-url"),
    leaves("remote+show remote+update remote+prune", "git remote talks to another repository"),
    redefines("remote+add remote+set-url remote+rename remote+remove remote+rm remote+set-head remote+set-branches", "writes the configuration of git"),
    changes("config").special(Special::GitConfig).options(&[
        takes("-f --file --blob --type --default --comment --value"),
        flag("--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool --name-only"),
        flag("--unset --unset-all --edit -e --add --replace-all --remove-section --rename-section"),
        flag("--global --system --local --worktree --show-origin --show-scope -z --null --bool --int --path"),
    ]),
    changes("add stage").options(&[takes("--chmod --pathspec-from-file")]),
    changes("commit").options(&[takes(
        "-m --message -F --file -C --reuse-message -c --reedit-message --author --date --fixup --squash -t \
         --template --trailer --cleanup --pathspec-from-file",
    )]),
    changes("merge cherry-pick revert am").options(&[takes(
        "-m --message -F --file -s --strategy -X --strategy-option --cleanup --mainline",
    )]),
    changes("rebase").options(&[
        runs_line("-x --exec"),
        takes("--onto -s --strategy -X --strategy-option --empty -C --whitespace"),
    ]),
    changes("bisect bisect+start bisect+good bisect+bad bisect+new bisect+old bisect+skip bisect+reset bisect+log bisect+replay bisect+terms bisect+visualize"),
    changes("bisect+run").operands(Operands::Command(0)),
    changes("checkout").special(Special::GitCheckout).options(&[
        loses("-f --force --ours --theirs -2 -3 -m --merge", "git checkout throws changes away"),
        loses("-B", "git checkout moves a branch away from its commits").valued(),
        loses("--pathspec-from-file", "git checkout throws changes away").valued(),
        takes("-b"),
        takes("--orphan"),
        takes("--conflict"),
        flag("-t --track"),
        flag("-d --detach"),
        loses("-p --patch", "git checkout throws changes away"),
    ]),
    changes("switch").options(&[
        loses("-f --force --discard-changes", "git switch throws changes away"),
        loses("-C --force-create", "git switch moves a branch away from its commits").valued(),
        takes("-c --create --orphan --conflict"),
    ]),
    destroys("restore", "git restore overwrites what is in files").options(&[
        staged("-S --staged"),
        insists("-W --worktree", "git restore overwrites what is in files"),
        takes("-s --source --pathspec-from-file"),
    ]),
    changes("reset").options(&[
        loses("--hard --merge --keep", "git reset throws changes away"),
        takes("--pathspec-from-file"),
    ]),
    destroys("clean", "git clean removes files for good")
        .options(&[only_lists("-n --dry-run"), takes("-e --exclude")]),
    changes("rm").options(&[
        loses("-r -f --force", "git rm removes files"),
        staged("--cached"),
        takes("--pathspec-from-file"),
        only_lists("-n --dry-run"),
    ]),
    changes("mv").operands(Operands::Move),
    destroys("filter-branch", "git rewrites or drops history").options(&[
        runs_line(
            "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter \
             --tag-name-filter",
        ),
        takes("--subdirectory-filter -d --original --state-branch"),
    ]),
    destroys("filter-repo replace prune prune-packed", "git rewrites or drops history"),
    leaves("maintenance+start maintenance+register maintenance+stop maintenance+unregister", "git maintenance makes jobs of the system"),
    changes("gc maintenance repack pack-refs commit-graph multi-pack-index").options(&[loses("--prune -d -A", "git drops commits")]),
    changes("update-ref symbolic-ref").options(&[loses("-d --delete --stdin", "git drops a reference")]),
    changes("read-tree").options(&[loses("--reset -u", "git overwrites what is in files")]),
    changes("checkout-index").options(&[loses("-f --force -a --all", "git overwrites what is in files"), writes("--prefix")]),
    changes("apply").options(&[
        takes("-p --directory --exclude --include -C --whitespace"),
        flag("--unsafe-paths"),
        alters("--apply"),
        writes("--build-fake-ancestor"),
        only_lists("--check --stat --numstat --summary"),
    ]),
    changes("format-patch").options(&[writes("-o --output-directory --output"), takes(
            "-v --reroll-count --subject-prefix --to --cc --start-number --in-reply-to --add-header --signature \
             --signature-file --suffix --base",
        )]),
    changes("archive").options(&[
        writes("-o --output"),
        takes("--format --prefix --add-file --add-virtual-file --mtime"),
        escapes("--remote", "git archive talks to another repository").valued(),
        decides_line("--exec", RUNS),
    ]),
    changes("bundle+create").operands(Operands::WriteFirst),
    changes("fast-export").options(&[writes("--export-marks")]),
    changes("fast-import").options(&[writes("--export-marks --export-pack-edges"), doubts("--allow-unsafe-features")]),
    changes("merge-file").operands(Operands::WriteFirst).options(&[takes("-L --marker-size --diff-algorithm")]),
    changes("mailinfo").operands(Operands::Write(0)).options(&[takes("--encoding --quoted-cr")]),
    changes("mailsplit").options(&[writes("-o"), takes("-d -f")]),
    changes("index-pack").options(&[writes("-o"), takes("--keep --index-version --threads --pack_header")]),
    changes("pack-objects").operands(Operands::Write(0)).options(&[
        takes("--window --depth --threads --max-pack-size --filter --index-version --compression --missing --keep-pack"),
    ]),
    changes("interpret-trailers").options(&[edits("--in-place", 0), takes("--trailer --where --if-exists --if-missing")]),
    changes("bundle notes write-tree merge-tree commit-tree mktree mktag hash-object update-index rerere sparse-checkout unpack-objects unpack-file mergetool quiltimport"),
    changes("merge-index").operands(Operands::Command(0)),
    changes("init").operands(Operands::Write(0)).options(&[
        decides("--template", "a template brings hooks along").valued(),
        writes("--separate-git-dir"),
        takes("-b --initial-branch --object-format --ref-format --shared"),
    ]),
    reads("submodule+status submodule+summary"),
    changes("submodule submodule+init submodule+sync submodule+absorbgitdirs submodule+set-branch"),
    redefines("submodule+set-url", "writes the configuration of git"),
    leaves("submodule+add submodule+update", "git submodule talks to another repository"),
    destroys("submodule+deinit", "git submodule removes a tree"),
    changes("submodule+foreach").operands(Operands::Line(0)).options(&[flag("--recursive -q --quiet")]),
    changes("difftool").options(&[
        decides_line("-x --extcmd", "git difftool opens a program that is named here"),
        decides("-t --tool", "git difftool opens a program that is named here").valued(),
    ]),
    leaves("push", "git push talks to another repository").special(Special::GitPush).options(&[
        loses("-f --force --force-with-lease --force-if-includes --mirror --prune -d --delete", "git push overwrites or deletes what others have"),
        takes("-o --push-option --repo"),
        decides_line("--receive-pack --exec", RUNS),
    ]),
    // What it fetches brings no settings along, so it may fetch what lies within, too.
    leaves("clone", "git talks to another repository").special(Special::GitClone).options(&[
        decides("--template", RUNS).valued(),
        decides("-c --config", RUNS).valued(),
        decides_line("-u --upload-pack", RUNS),
        flag("--recurse-submodules"),
        writes("--separate-git-dir"),
        takes(
            "-b --branch --revision --depth -o --origin -j --jobs --reference --reference-if-able --shallow-since \
             --shallow-exclude --ref-format --server-option --filter --bundle-uri",
        ),
    ]),
    leaves("fetch pull ls-remote remote-http remote-https send-email request-pull fetch-pack lfs svn p4 cvsimport imap-send daemon http-backend instaweb shell upload-pack receive-pack upload-archive archimport", "git talks to another repository")
        .options(TALKS),
    leaves("send-pack", "git talks to another repository").special(Special::GitPush).options(TALKS),
    leaves("credential credential-store credential-cache credential-manager", "git shows passwords"),
    changes("subtree subtree+split subtree+merge"),
    leaves("subtree+add subtree+pull", "git talks to another repository"),
    leaves("subtree+push", "git talks to another repository")
        .special(Special::GitPush)
        .options(&[takes("-P --prefix -b --branch -m --message --annotate --onto")]),
    changes("citool gui gitk web--browse"),
];

/// Options of what talks to another repository.
const TALKS: &[Option_] = &[
    decides_line(
        "-u --upload-pack --receive-pack --exec --to-cmd --cc-cmd --header-cmd --sendmail-cmd --access-hook",
        RUNS,
    ),
    decides("--template -c --config --smtp-server", RUNS).valued(),
];

/// The pager may be any program.
const OPENS: Does = Does::Decides("git grep opens a program that is named here");

/// The option makes the verb one that lists.
const fn only_lists(names: &'static str) -> Option_ {
    only_reads(names)
}

/// Only what is staged changes; the files stay.
const fn staged(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Spares }
}

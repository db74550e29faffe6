//! Version control other than git.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    changes("jj").everywhere(&[
        decides("--config --config-file --config-toml -R --repository --tool", "decides what jj runs").valued(),
        takes("--at-operation --at-op --color"),
    ]).verbs(&[
        reads("log show diff status st op+log operation+log evolog files file+list file+show help version root"),
        destroys("restore abandon op+restore op+undo operation+restore undo", "jj throws changes away"),
        leaves("git+push git+fetch git+clone git+remote+add", "jj talks to another repository"),
        redefines("config+set config+edit", "decides what jj runs"),
    ]),
    changes("svn").everywhere(&[
        decides_line("--diff-cmd --diff3-cmd --editor-cmd", "decides what svn runs"),
        decides("--config-option --config-dir", "decides what svn runs").valued(),
    ]).verbs(&[
        reads("status st stat info log diff di list ls blame cat help proplist propget"),
        destroys("revert cleanup", "svn throws changes away"),
        leaves("commit ci update up checkout co import export switch sw copy merge relocate lock unlock delete del rm mkdir", "svn talks to another repository"),
    ]),
    changes("hg").everywhere(&[
        decides("--config -R --repository --cwd", "decides what hg runs").valued(),
        takes("--encoding --encodingmode --color --pager"),
    ]).verbs(&[
        // The settings of the folder name programs and bring code along.
        changes("cat").options(&[writes("-o --output")]),
        changes("status st log diff annotate blame files heads id identify manifest parents paths summary tip version help"),
        destroys("revert strip purge rollback", "hg throws changes away"),
        changes("update up checkout co").options(&[loses("-C --clean", "hg throws changes away")]),
        leaves("push pull clone incoming in outgoing out", "hg talks to another repository"),
    ]),
    changes("fossil").verbs(&[
        destroys("revert undo clean", "fossil throws changes away"),
        leaves("sync push pull clone update", "fossil talks to another repository"),
    ]),
    leaves("cvs bzr p4 darcs", "talks to another repository"),
];

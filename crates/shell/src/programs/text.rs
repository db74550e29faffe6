//! Text: show, search, sort, transform.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    reads(
        "cat head tail wc cut tr nl od hexdump hd strings rev fold fmt expand unexpand column \
         paste join comm diff diff3 sdiff colordiff cmp-text seq yes factor numfmt tsort ptx \
         look bc expr jo gron hexyl bat batcat delta pr",
    ),
    reads("base64 base32 basenc uuencode uudecode"),
    reads("uniq").operands(Operands::Write(1)).options(&[takes("-f --skip-fields -s --skip-chars -w --check-chars")]),
    reads("sort gsort").options(&[
        takes("-k --key -t --field-separator -S --buffer-size -T --temporary-directory --parallel --batch-size --files0-from"),
        writes("-o --output"),
        runs_program("--compress-program"),
    ]),
    reads("shuf").options(&[writes("-o --output"), takes("-n --head-count -i --input-range --random-source")]),
    reads("grep egrep fgrep ggrep").options(&[takes(
        "-e --regexp -f --file -A -B -C --context -m --max-count --include --exclude --exclude-dir -d -D",
    )]),
    reads("rg").options(&[
        runs_program("--pre"),
        takes(
            "-e --regexp -f --file -g --glob --iglob -t --type -T --type-not -A -B -C -m --max-count -M -j \
             --threads --max-depth -d --sort --sortr -r --replace -E --encoding --color --colors \
             --pre-glob --type-add --type-clear --max-filesize --ignore-file --context-separator",
        ),
        runs_program("--hostname-bin"),
    ]),
    reads("ag ack").options(&[runs_program("--pager"), takes("-A -B -C -G --ignore --ignore-dir -m")]),
    reads("sed gsed").special(Special::Sed).operands(Operands::Read).options(&[
        takes("-e --expression -f --file -l --line-length"),
        Option_ { names: "-i --in-place", takes: false, does: Does::Changes },
        takes_nothing("-n -E -r -s -z -u --quiet --silent --regexp-extended --posix --debug --sandbox --follow-symlinks"),
    ]),
    reads("awk gawk mawk nawk original-awk").special(Special::Awk).options(&[
        takes("-F --field-separator -v --assign -f --file -e --source -i --include -l --load"),
    ]),
    changes("jq yq").options(&[
        takes("--arg --argjson --slurpfile --rawfile --indent -f --from-file -L"),
        alters("-i --inplace"),
    ]),
    reads("less more most pg").special(Special::Less).options(&[
        takes("-p --pattern -t -T -x -y -b -h -j -z -#"),
        writes("-o -O --log-file --LOG-FILE"),
        Option_ { names: "-k --lesskey-file --lesskey-src --lesskey-content", takes: true, does: Does::Changes },
    ]),
    reads("man info apropos whatis tldr help").options(&[
        runs_line("-P --pager"),
        runs_line("-H --html"),
        takes("-S -s -M --manpath -m -L --locale -C --config-file -T -p --preprocessor -r --prompt"),
    ]),
    changes("vim vi nvim ex view rvim gvim vimdiff emacs emacsclient nano pico micro helix hx kak joe ed red"),
    reads("iconv").options(&[takes("-f --from-code -t --to-code"), writes("-o --output")]),
    reads("envsubst gettext xmllint yamllint tidy hadolint actionlint shellcheck").options(&[
        writes("--output -o -output"),
        alters("-m -modify"),
    ]),
    changes("dos2unix unix2dos recode").operands(Operands::Write(0)),
    changes("m4 cpp dc gnuplot csvcut csvsort xsv mlr"),
    changes("indent clang-format gofmt rustfmt black"),
];

const fn takes_nothing(names: &'static str) -> Option_ {
    Option_ { names, takes: false, does: Does::Nothing }
}

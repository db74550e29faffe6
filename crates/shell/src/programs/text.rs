//! Text: show, search, sort, transform.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    reads(
        "cat head tail wc cut tr nl od hexdump hd strings rev fold fmt expand unexpand column \
         paste join comm diff colordiff seq yes factor numfmt tsort \
         look bc expr jo gron hexyl pr",
    ),
    reads("base64 base32 basenc uuencode"),
    changes("uudecode ptx").options(&[writes("-o --output-file")]),
    reads("diff3").options(&[runs_program("--diff-program"), takes("-L --label")]),
    reads("sdiff").options(&[writes("-o --output"), runs_program("--diff-program")]),
    reads("bat batcat delta").options(&[runs_line("--pager"), writes("--target"), takes("-l --language -r --line-range --theme --style --source"), alters("--build --clear")]),
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
             --pre-glob --type-add --type-clear --max-filesize --ignore-file --context-separator --engine \
             --field-context-separator --field-match-separator --path-separator --hyperlink-format",
        ),
        runs_program("--hostname-bin"),
    ]),
    reads("ag ack").options(&[runs_program("--pager"), takes("-G --ignore --ignore-dir -m"), flag("-A -B -C").attached()]),
    reads("sed gsed").special(Special::Sed).operands(Operands::Read).options(&[
        takes("-e --expression -f --file -l --line-length"),
        alters("-i --in-place").attached(),
        flag("-n -E -r -s -z -u --quiet --silent --regexp-extended --posix --debug --sandbox --follow-symlinks"),
    ]),
    reads("awk gawk mawk nawk original-awk").special(Special::Awk).options(&[
        takes("-F --field-separator -v --assign -f --file -E --exec -e --source -i --include -l --load"),
        Option_ {
            names: "-W",
            takes: true,
            optional: false,
            does: Does::Asks(crate::line::ConcernKind::NotUnderstood, "-W means other options of awk"),
        },
        doubts("-D --debug").attached(),
        writes("-o --pretty-print -d --dump-variables -p --profile").attached(),
        doubts("-W").valued(),
    ]),
    changes("jq yq").options(&[
        takes("--arg --argjson --slurpfile --rawfile --indent -f --from-file -L"),
        edits("-i --inplace --in-place", 1),
    ]),
    reads("less more most pg zless zmore xzless bzless lzless zstdless").special(Special::Less).options(&[
        takes("-p --pattern -t -T -x -y -b -h -j -z -#"),
        writes("-o -O --log-file --LOG-FILE"),
        alters("-k --lesskey-file --lesskey-src --lesskey-content").valued(),
    ]),
    reads("man apropos whatis tldr help").options(&[
        runs_line("-P --pager"),
        runs_line("-H --html").attached(),
        decides("-C --config-file", "its configuration names programs").valued(),
        takes("-S -s -M --manpath -m -L --locale -p --preprocessor -r --prompt"),
    ]),
    reads("info").options(&[
        writes("-o --output --dribble"),
        doubts("--restore --init-file").valued(),
        takes("-d --directory -f --file -n --node -k --apropos --index-search -v --variable"),
    ]),
    changes("vim vi nvim ex view rvim gvim vimdiff emacs emacsclient nano pico micro helix hx kak joe ed red"),
    reads("iconv").options(&[takes("-f --from-code -t --to-code"), writes("-o --output")]),
    reads("envsubst gettext yamllint hadolint shellcheck").options(&[writes("--output -o")]),
    reads("xmllint").long_options().options(&[flag("--"), writes("-output -o"), doubts("-shell")]),
    reads("tidy").options(&[
        // It ends no options.
        flag("--"),
        writes("-output -o -file -f --output-file --error-file"),
        alters("-modify -m --write-back"),
        doubts("-config").valued(),
        takes("-language -lang -wrap -w -access"),
        // Spelled out, or they are read letter by letter.
        flag("-omit -numeric -asxml -asxhtml -ashtml -xml -quiet -errors -indent -upper -clean -bare -gdoc -utf8"),
    ]),
    reads("actionlint").long_options().options(&[
        runs_program("-shellcheck -pyflakes"),
        takes("-config-file -format -ignore -stdin-filename"),
    ]),
    changes("dos2unix unix2dos recode").operands(Operands::Write(0)),
    changes("m4 cpp dc gnuplot csvcut csvsort xsv mlr"),
    changes("clang-format").options(&[edits("-i", 0), takes("--style -style --assume-filename")]),
    changes("gofmt goimports gofumpt").long_options().options(&[
        edits("-w", 0),
        writes("-cpuprofile -memprofile"),
        takes("-r -local -srcdir -lang -modpath"),
    ]),
    changes("prettier").options(&[edits("-w --write", 0), takes("--config --ignore-path --parser")]),
    changes("rustfmt").operands(Operands::Write(0)).options(&[
        only_reads("--check"),
        takes("--edition --style-edition --config --config-path --emit --color --print-config --file-lines"),
    ]),
    changes("black isort indent").operands(Operands::Write(0)).options(&[
        only_reads("--check --diff --check-only"),
        takes(
            "--config --config-path -l --line-length -t --target-version --profile -c --code --include --exclude \
             --extend-exclude --force-exclude --stdin-filename -W --workers --required-version --line-ranges",
        ),
    ]),
];

//! Files and folders: look, copy, move, remove, pack.

use super::table::*;

/// The options of tar.
const ARCHIVE: &[Option_] = &[
    takes(
        "-f --file -b --blocking-factor -X --exclude-from -T --files-from -H --format \
         -K --starting-file -N --newer --after-date -V --label --exclude --owner --group \
         --mode --mtime --strip-components --level --sort --suffix --warning --quoting-style -L --tape-length",
    ),
    takes("-C --directory --cd"),
    writes("--index-file --volno-file -g --listed-incremental"),
    doubts("--transform --xform").valued(),
    writes("--one-top-level").attached(),
    flag("--occurrence").attached(),
    runs_program("-I --use-compress-program"),
    runs_line(
        "--to-command --set-mtime-command -F --info-script --new-volume-script --rsh-command --rmt-command",
    ),
    Option_ { names: "--checkpoint-action", takes: true, optional: false, does: Does::RunsAction },
    loses("--remove-files", "tar removes what it packed"),
    loses("--recursive-unlink -U --unlink-first", "tar removes what is in its way"),
    flag(
        "-x --extract --get -t --list -c --create -r --append -u --update -A --catenate --concatenate",
    ),
    flag("-P --absolute-names --force-local --delete -v --verbose -z -j -J -p -O -k"),
];

pub(super) const PROGRAMS: &[Program] = &[
    reads(
        "ls dir vdir exa eza lsd stat du df realpath readlink basename dirname pathchk \
         cmp sha1sum sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum sum shasum md5 \
         namei lsattr getfacl findmnt mountpoint tac which whereis locate",
    ),
    reads("mktemp").operands(Operands::Change).special(Special::Temp).options(&[
        writes("-p"),
        writes("--tmpdir").attached(),
        flag("-t"),
        takes("--suffix"),
        alters("-d"),
    ]),
    // In one word with others each letter has its value among the words that follow.
    reads("tree").options(&[edits("-o", 0), alters("-R"), takes("--filelimit --charset")]),
    reads("file").options(&[alters("-C --compile"), takes("-m --magic-file -F --separator -f --files-from -e")]),
    reads("xxd").long_options().operands(Operands::Write(1)).options(&[
        takes("-c -cols -g -groupsize -l -len -n -name -o -off -s -seek -R"),
        // Spelled out, or they would be those with a value.
        flag("-C -E -a -autoskip -b -bits -d -e -h -help -i -include -p -ps -plain -postscript -r -revert -u -uppercase -v -version"),
    ]),
    reads("find gfind").long_options().options(&[
        // It ends nothing: what stands behind it is an action all the same.
        flag("--"),
        runs_rest("-exec -execdir -ok -okdir"),
        loses("-delete", "find -delete removes files for good"),
        writes("-fprint -fprint0 -fls -fprintf"),
        takes(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime \
             -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user \
             -group -uid -gid -links -inum -samefile -printf -fstype -lname -ilname -regextype -context \
             -used -files0-from",
        ),
    ]),
    reads("fd fdfind").options(&[
        runs_rest("-x --exec -X --exec-batch"),
        takes(
            "-e --extension -d --max-depth --min-depth --exact-depth -t --type -E --exclude -S \
             --size -c --color -j --threads -o --owner --changed-within --changed-before --base-directory \
             --path-separator --search-path --max-results --ignore-file --batch-size --format --and -C --ignore-contain",
        ),
    ]),
    changes("touch").operands(Operands::Write(0)).options(&[takes("-t -d --date -r --reference --time")]),
    changes("mkdir").operands(Operands::Move).options(&[takes("-m --mode")]),
    changes("rmdir").operands(Operands::Move),
    changes("mkfifo mknod").operands(Operands::Write(0)).options(&[takes("-m --mode")]),
    changes("truncate").operands(Operands::Write(0)).options(&[takes("-s --size -r --reference")]),
    changes("fallocate").operands(Operands::Write(0)).options(&[takes("-l --length -o --offset")]),
    changes("cp gcp")
        .operands(Operands::WriteLast)
        .options(&[TARGET, takes("-S --suffix"), flag("--parents -r -R -a -b")])
        .special(Special::Copy),
    changes("mv gmv").operands(Operands::Move).options(&[TARGET, takes("-S --suffix")]).special(Special::Copy),
    changes("ln link gln")
        .operands(Operands::WriteLast)
        .options(&[TARGET, takes("-S --suffix")])
        .special(Special::Copy),
    changes("install ginstall").operands(Operands::WriteLast).special(Special::Copy).options(&[
        TARGET,
        takes("-m --mode -o --owner -g --group -S --suffix"),
        flag("-d --directory -D"),
        runs_program("--strip-program"),
    ]),
    changes("rename prename perl-rename"),
    changes("rm grm")
        .special(Special::Remove)
        .options(&[flag("-r -R --recursive -f --force -i -I -d --dir -v --verbose")]),
    changes("unlink").operands(Operands::Move),
    destroys("shred wipe srm", "overwrites files for good"),
    destroys("rimraf del-cli trash-empty", "removes folders for good"),
    changes("trash trash-put gio"),
    reads("dd").special(Special::Dd),
    changes("chmod").special(Special::Chmod).options(&[takes("--reference"), flag("-R --recursive -v -f -c")]),
    changes("chown chgrp chcon")
        .operands(Operands::Write(1))
        .options(&[takes("--from"), edits("--reference", 0).valued()]),
    changes("chattr").operands(Operands::Write(0)).options(&[takes("-v -p")]),
    changes("setfattr").operands(Operands::Write(0)).options(&[takes("-n --name -v --value -x --remove")]),
    changes("setfacl").operands(Operands::Write(0)).options(&[takes("-m -x -M -X --modify --remove")]),
    changes("tar gtar bsdtar").options(ARCHIVE).special(Special::Tar),
    changes("zip").operands(Operands::Write(0)).options(&[
        takes("-b -i -n -t -tt -x -P -s"),
        writes("-O --out -lf --logfile-path"),
        runs_line("-TT --unzip-command"),
        loses("-m --move", "zip removes what it packed"),
    ]),
    reads("zipinfo"),
    changes("unzip").special(Special::Unzip).options(&[
        only_reads("-l -Z -v -t -p -c"),
        Option_ { names: "-d", takes: true, optional: false, does: Does::Writes },
        takes("-x -P"),
        flag("-q -o -n -u -j"),
    ]),
    changes("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress uncompress pigz lzma unlzma brotli")
        .operands(Operands::Write(0))
        .options(PACKED)
        .everywhere(&[only_reads("-l")]),
    // To these `-l` is something else.
    changes("lz4 pbzip2").operands(Operands::Write(0)).options(PACKED),
    reads("zcat bzcat xzcat gzcat lzcat zgrep zegrep zdiff"),
    reads("zstdcat").options(&[writes("-o"), alters("--rm")]),
    changes("cpio").options(&[
        edits("-p --pass-through", 0),
        // To where the archive says.
        doubts("-i --extract"),
        takes("-C --io-size -E --pattern-file -M --message -I"),
        writes("-O -F --file"), enters("-D --directory"), takes("-H --format -R --owner"), runs_program("--rsh-command")]),
    changes("ar ranlib").options(&[
        decides("--plugin", "a library is loaded into the program").valued(),
    ]),
    changes("7z 7za 7zz unrar rar"),
    changes("rsync").operands(Operands::WriteLast).special(Special::Rsync).options(&[
            only_reads("-n --dry-run --list-only"),
        takes(
            "--exclude --include -f --filter --exclude-from --include-from --files-from -T --temp-dir \
             --bwlimit --timeout --chmod --chown --max-size --min-size --block-size -B --suffix --port \
             --password-file --out-format --info --debug --compare-dest --copy-dest --link-dest -M \
             --remote-option --max-delete -@ --modify-window --log-file-format --skip-compress --compress-choice \
             --zc --compress-level --zl --checksum-choice --cc --checksum-seed --usermap --groupmap --iconv \
             --protocol --sockopts --outbuf --address --early-input --stop-after --stop-at --time-limit \
             --read-batch --contimeout --copy-as --max-alloc",
        ),
        writes("--log-file --backup-dir --partial-dir --write-batch --only-write-batch"),
        Option_ { names: "-e --rsh", takes: true, optional: false, does: Does::RemoteShell },
        escapes("--rsync-path", "rsync runs a program to reach another machine").valued(),
        doubts("--daemon --server"),
        doubts("--config --dparam").valued(),
        loses(
            "--delete --del --delete-before --delete-during --delete-delay --delete-after \
             --delete-excluded --remove-source-files --delete-missing-args --force",
            "rsync removes files at its target",
        ),
    ]),
    destroys("mkfs mke2fs mkswap mkdosfs mkntfs newfs", "makes a new file system over the old one"),
    destroys("wipefs sgdisk gdisk fdisk sfdisk cfdisk parted blkdiscard hdparm dmsetup cryptsetup lvremove vgremove pvremove zpool zfs btrfs mdadm", "changes disks"),
    changes("csplit").options(&[writes("-f --prefix"), takes("-n --digits -b --suffix-format")]),
    changes("split").operands(Operands::Write(1)).options(&[
        takes("-b --bytes -l --lines -n --number -a --suffix-length -C --line-bytes -t --separator --additional-suffix"),
        runs_line("--filter"),
    ]),
    changes("tee").operands(Operands::Write(0)),
    changes("sponge").operands(Operands::Write(0)),
    changes("patch").operands(Operands::Write(0)).options(&[
        takes("-p --strip -i --input -F --fuzz -D --ifdef -V --version-control -z --suffix -B --prefix -Y"),
        writes("-o --output -r --reject-file"),
        writes("-d --directory"),
        only_reads("--dry-run"),
    ]),
];

/// The options of what packs single files; of those that say what to do, the last counts.
const PACKED: &[Option_] = &[
    takes("-S --suffix"),
    flag("-T --threads -b").attached(),
    writes("-o --output -O --output-dir-flat --output-dir-mirror"),
    flag("-c --stdout -k"),
    only_reads("--list -t --test"),
    alters("-d -z --decompress --uncompress --compress"),
];

const TARGET: Option_ = writes("-t --target-directory");

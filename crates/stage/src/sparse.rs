//! Files that hold less than their length: what is never written takes no room, and is not read.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::io::Errno;

/// What the system counts the room of a file in.
const SECTOR_BYTES: u64 = 512;

/// The first byte from `at` on that a file system keeps, and where such bytes end. None when there are
/// none up to `end`; one that does not tell keeps all.
fn next_data(file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    if at >= end {
        return Ok(None);
    }
    let start = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
        Ok(start) => start.max(at),
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => return Ok(Some((at, end))),
        Err(error) => return Err(error.into()),
    };
    let stop = match rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(start)) {
        Ok(stop) if stop > start => stop.min(end),
        _ => end,
    };
    Ok((start < end).then_some((start, stop)))
}

/// Reads a file in blocks of this size, the last of which may be shorter: each that holds more than
/// zeros with `data`, and of the others how many follow each other, from which on, with `zeros`. Gives its
/// length.
pub(crate) fn read_blocks(
    mut file: &File,
    block_bytes: u64,
    mut data: impl FnMut(&[u8]),
    mut zeros: impl FnMut(u64, u64),
) -> io::Result<u64> {
    let end = file.metadata()?.len();
    let mut block = Vec::new();
    let (mut at, mut run) = (0, 0);
    loop {
        let kept = next_data(file, at, end)?.map_or(end, |(start, _)| start);
        // Zero where the file became longer meanwhile, and for what is no whole block.
        let skipped = kept.saturating_sub(at) / block_bytes;
        (at, run) = (at + skipped * block_bytes, run + skipped);
        block.clear();
        file.seek(SeekFrom::Start(at))?;
        file.take(block_bytes).read_to_end(&mut block)?;
        let length = block.len() as u64;
        let is_whole = length == block_bytes;
        at += length;
        if is_whole && block.iter().all(|byte| *byte == 0) {
            run += 1;
            continue;
        }
        if run > 0 {
            zeros((at - length) / block_bytes - run, run);
            run = 0;
        }
        data(&block);
        if !is_whole {
            return Ok(at);
        }
    }
}

/// Gives an empty file what another holds, without its holes, and without taking more room where the file
/// system can share it.
pub(crate) fn copy(from: &File, to: &File) -> io::Result<()> {
    match share(from, to) {
        true => Ok(()),
        false => copy_data(from, to),
    }
}

/// The same, where nothing can be shared.
pub(crate) fn copy_data(mut from: &File, mut to: &File) -> io::Result<()> {
    let end = from.metadata()?.len();
    to.set_len(end)?;
    let mut at = 0;
    while let Some((start, stop)) = next_data(from, at, end)? {
        from.seek(SeekFrom::Start(start))?;
        to.seek(SeekFrom::Start(start))?;
        io::copy(&mut from.take(stop - start), &mut to)?;
        at = stop;
    }
    Ok(())
}

/// Whether an empty file shares now what another holds.
#[cfg(target_os = "linux")]
pub(crate) fn share(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn share(_: &File, _: &File) -> bool {
    false
}

/// The room that a file takes.
pub(crate) fn room(metadata: &Metadata) -> u64 {
    metadata.len().min(metadata.blocks().saturating_mul(SECTOR_BYTES))
}

/// The room that is left where a folder lies; none where nobody can tell.
pub(crate) fn free(folder: &Path) -> Option<u64> {
    let told = rustix::fs::statvfs(folder).ok().filter(|told| told.f_blocks > 0)?;
    Some(told.f_bavail.saturating_mul(told.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    /// The length, what of the file holds more than zeros, and runs of zeros.
    fn read(file: &File) -> (u64, String, Vec<(u64, u64)>) {
        let (mut text, mut runs) = (String::new(), Vec::new());
        let length = read_blocks(
            file,
            4,
            |data| text.push_str(&data.escape_ascii().to_string()),
            |from, count| runs.push((from, count)),
        );
        (length.unwrap(), text, runs)
    }

    #[test]
    fn zeros_count_the_same_whether_they_are_kept_or_not() {
        const FAR: u64 = 64 * 1024;
        let (kept, holes) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        kept.write_all_at(&vec![0; FAR as usize], 0).unwrap();
        for file in [&kept, &holes] {
            file.write_all_at(b"ab", 2).unwrap();
            file.write_all_at(b"yz", FAR).unwrap();
        }
        let expected = (FAR + 2, "\\x00\\x00abyz".to_owned(), vec![(1, FAR / 4 - 1)]);
        assert_eq!(read(&kept), expected);
        assert_eq!(read(&holes), expected);
        let copied = tempfile::tempfile().unwrap();
        copy_data(&holes, &copied).unwrap();
        assert_eq!(read(&copied), expected);
        assert!(room(&copied.metadata().unwrap()) < FAR / 2);
        // Nothing but a hole, up to the end or not to the end of a block.
        for (length, told) in
            [(0, ("", vec![])), (8, ("", vec![(0, 2)])), (6, ("\\x00\\x00", vec![(0, 1)]))]
        {
            let file = tempfile::tempfile().unwrap();
            file.set_len(length).unwrap();
            assert_eq!(read(&file), (length, told.0.to_owned(), told.1));
        }
    }
}

//! What a journal's bytes lie on: a file, or in tests a file that fails.

use std::io::{self, Read};

/// Bytes that can be read anywhere, written at the end and cut.
pub(crate) trait Medium: Send + Sync {
    /// Reads some bytes from `offset`; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes at `offset`, in one system call where the system takes them at once. On an
    /// error some of them may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts everything from `length` on.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Makes what was written survive the loss of power.
    fn sync(&self) -> io::Result<()>;
    /// How long it is; `None` when it was removed.
    fn length(&self) -> io::Result<Option<u64>>;
    /// Whether another file stands where it is looked for: somebody else may have that one open.
    fn is_replaced(&self) -> io::Result<bool> {
        Ok(false)
    }
}

/// Reads a medium from some place on.
pub(crate) struct ReadFrom<'a, M: ?Sized> {
    medium: &'a M,
    offset: u64,
}

impl<'a, M: Medium + ?Sized> ReadFrom<'a, M> {
    pub(crate) fn start(medium: &'a M) -> Self {
        Self::offset(medium, 0)
    }

    pub(crate) fn offset(medium: &'a M, offset: u64) -> Self {
        Self { medium, offset }
    }
}

impl<M: Medium + ?Sized> Read for ReadFrom<'_, M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.medium.read_at(buffer, self.offset)?;
        self.offset += n as u64;
        Ok(n)
    }
}

//! A short name for a call whose id a server does not take: the same for a call and its result.

/// How long it is: as the ids that Mistral takes.
pub(crate) const DIGEST_LENGTH: usize = 9;
const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Nine letters and digits: an FNV-1a of the id.
pub(crate) fn digest(id: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let mut rest = id.bytes().fold(OFFSET, step);
    let mut letter = || {
        let letter = LETTERS[usize::try_from(rest % 62).unwrap_or_default()];
        rest /= 62;
        char::from(letter)
    };
    (0..DIGEST_LENGTH).map(|_| letter()).collect()
}

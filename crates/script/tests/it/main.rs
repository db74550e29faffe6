//! Scripts through the public API: what is read, what is refused, what is played.

mod check;
mod guide;
mod parse;
mod play;

//! Scripts through the public API: what is read, what is refused, what is played.

mod check;
mod follow;
mod guide;
mod parse;
mod play;
mod talk;

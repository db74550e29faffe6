//! Eager start: calls that only look begin while the answer still streams, and nobody can tell but
//! by the time it takes.

mod begun;
mod dropped;
mod looks;
mod same;
mod used;

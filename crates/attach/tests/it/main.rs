//! A session in a process, and its guests by way of real sockets.

#[cfg(test)]
mod guests;

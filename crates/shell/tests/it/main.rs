//! What lines mean, from outside: the corpora, and what must hold for any line at all.

#[cfg(test)]
mod corpus;

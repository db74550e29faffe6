//! Settings on a real disk: which files are read, whose are trusted, and what is kept.

#[cfg(test)]
mod files;
#[cfg(test)]
mod narrow;
#[cfg(test)]
mod save;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trust;

//! Which style each kind of text has.

//! Starts child processes through one launcher that kills their whole tree.

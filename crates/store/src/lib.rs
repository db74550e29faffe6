//! Session stores: memory and the file journal.

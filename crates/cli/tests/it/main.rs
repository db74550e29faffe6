//! The built `heeler`, from outside: what it prints, how it ends, and what is left when it is
//! killed.

#[cfg(test)]
mod accepted;
#[cfg(test)]
mod answer;
#[cfg(test)]
mod attached;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod checkpoint;
#[cfg(test)]
mod closed;
#[cfg(test)]
mod committed;
#[cfg(test)]
mod completions;
mod config;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod decides;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod detached;
#[cfg(test)]
mod exits;
#[cfg(test)]
mod exported;
#[cfg(test)]
mod fallback;
#[cfg(test)]
mod fifo;
#[cfg(test)]
mod forked;
#[cfg(test)]
mod help;
#[cfg(test)]
mod home;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod judged_again;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod linked;
#[cfg(test)]
mod local;
mod login;
#[cfg(test)]
mod long;
#[cfg(test)]
mod media;
mod models;
#[cfg(test)]
mod odd;
#[cfg(test)]
mod order;
mod owner;
#[cfg(test)]
mod permission;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod request;
#[cfg(test)]
mod running;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod scarce;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod search_keys;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod stage;
mod stage_killed;
#[cfg(test)]
mod stage_turned;
#[cfg(test)]
mod stdin;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod structured;
#[cfg(test)]
mod support;
mod terminal;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod todo;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod window;
#[cfg(test)]
mod zones;

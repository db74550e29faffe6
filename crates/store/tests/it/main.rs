//! The promises of the stores, from outside.

#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod children;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod files;
#[cfg(test)]
mod follow;
#[cfg(test)]
mod forks;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod media;
#[cfg(test)]
mod power;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod records;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod strays;
#[cfg(test)]
mod support;

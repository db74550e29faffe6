//! The promises of the stores, from outside.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod children;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod files;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod server;

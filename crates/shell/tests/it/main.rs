//! What lines mean, from outside: the corpora, and what must hold for any line at all.

#[cfg(test)]
mod bash;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod disguises;
#[cfg(test)]
mod hidden;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod let_out;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod places;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod spellings;
#[cfg(test)]
mod told;
#[cfg(test)]
mod values;
#[cfg(test)]
mod wrappers;

/// The place of all tests, which is that of the corpora.
#[cfg(test)]
const PLACE: heeler_shell::Place<'_> = heeler_shell::Place {
    workspace: "/space/project",
    home: Some("/home/user"),
    temp: Some("/space/temp/private"),
};

//! `heeler login` and `logout`: keys of providers, kept for this user.

mod check;
mod prompt;

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{Environment, KeepKey, KeyOwner, KeyPlace, Keys, Secret};

use crate::arguments::LoginArguments;
use crate::exit::Exit;
use crate::say::{print, say};

/// Runs `login`.
pub(crate) fn login(arguments: &LoginArguments) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let keys = Keys::of(&environment)?;
    let Some(name) = &arguments.provider else {
        print(&status(&keys, &environment)?)?;
        return Ok(Exit::Done);
    };
    let owner = known(name)?;
    if !arguments.misplaced.is_empty() {
        bail!(
            "keys are not given on the command line, where every process and the shell's history \
             see them; run `heeler login {name}` and give it there, and replace the one you gave"
        );
    }
    let Some(variable) = owner.variables.first() else {
        bail!("{} needs no key", owner.title);
    };
    let key = prompt::key(&format!("The key for {} (it is not shown): ", owner.title))
        .context("cannot read the key")?;
    let key = Secret::new(key);
    Keys::check(&key)?;
    if arguments.check {
        check::check(&owner, &key, &environment)?;
    }
    let keep = if arguments.file { KeepKey::InFile } else { KeepKey::Anywhere };
    let place = keys.keep(&owner, &key, keep)?;
    say(format_args!("The key for {} is kept in {}.", owner.title, words(&place)));
    if let Some(KeyPlace::Variable(set)) = keys.place(&owner, &environment)? {
        say(format_args!("{set} is set, and wins as long as it is; unset it to use what is kept."));
    } else {
        say(format_args!("{variable} wins over it when it is set."));
    }
    Ok(Exit::Done)
}

/// Runs `logout`.
pub(crate) fn logout(name: &str) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let owner = known(name)?;
    let keys = Keys::of(&environment)?;
    match keys.forget(&owner)? {
        true => say(format_args!("The key for {} is forgotten.", owner.title)),
        false => say(format_args!("There was no key for {}.", owner.title)),
    }
    if let Some(KeyPlace::Variable(set)) = keys.place(&owner, &environment)? {
        say(format_args!("{set} is set, and is used as long as it is."));
    }
    Ok(Exit::Done)
}

/// Whose key it is, by this name.
fn known(name: &str) -> Result<KeyOwner> {
    KeyOwner::named(name).with_context(|| {
        let names = KeyOwner::all().map(|owner| owner.name).collect::<Vec<_>>();
        format!("there is no provider `{name}`; there are {}", names.join(", "))
    })
}

/// Where a key is, in words.
pub(crate) fn words(place: &KeyPlace) -> String {
    match place {
        KeyPlace::Variable(variable) => variable.to_string(),
        KeyPlace::Keyring => "the keyring".to_owned(),
        KeyPlace::File(path) => path.display().to_string(),
    }
}

/// Where each provider's key is, a line each.
fn status(keys: &Keys, environment: &Environment) -> Result<String> {
    let mut text = String::new();
    for owner in KeyOwner::all() {
        let place = match keys.place(&owner, environment)? {
            Some(place) => words(&place),
            None if owner.needs_key => "-".to_owned(),
            None => "- (needs none)".to_owned(),
        };
        writeln!(text, "{:<12}  {place}", owner.name)?;
    }
    Ok(text)
}

//! The flows of docs/guide/terminal.md, each played by keys on a real terminal.

mod attached;
mod background;
mod changes;
mod context;
mod first;
mod flows;
mod given;
mod glass;
mod hostile;
mod modes;
mod old;
mod plain;
mod requests;
mod sessions;
mod sizes;
mod stored;
mod words;
mod works;

use glass::Glass;

use crate::support::World;

/// A world, and `heeler` in an 80 by 24 terminal with a model that plays this script.
fn play(script: &str) -> (World, Glass) {
    play_with(script, 80, 24, &[])
}

fn play_with(script: &str, columns: u16, rows: u16, more: &[&str]) -> (World, Glass) {
    let world = World::new();
    let model = world.script(script);
    let arguments = [&["--model", &model], more].concat();
    let glass = Glass::open(&world, columns, rows, &arguments);
    glass.waits_for("script.toml · ");
    (world, glass)
}

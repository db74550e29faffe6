//! Sessions that any release wrote are opened by this one.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::Glass;
use crate::support::World;

/// What stands before the checksum of the line before, and before the line's own.
const BEFORE: &str = ",\"prev\":\"";
const OWN: &str = ",\"sum\":\"";

/// The lines of a golden journal, every record as it was written, for a session of this folder.
fn moved(journal: &str, folder: &str) -> String {
    let mut sum = String::new();
    let mut text = String::new();
    for line in journal.lines() {
        let said = match line.rsplit_once(BEFORE) {
            Some((said, _)) => format!("{said}{BEFORE}{sum}\""),
            None => {
                let (head, _) = line.rsplit_once(OWN).unwrap();
                head.replace("\"/space\"", &format!("\"{folder}\""))
            }
        };
        let digest = Sha256::digest(said.as_bytes());
        sum = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{said}{OWN}{sum}\"}}\n");
    }
    text
}

#[test]
fn o1_every_format_that_was_ever_written_opens() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/it/golden");
    let mut n_opened = 0;
    for file in std::fs::read_dir(golden).unwrap() {
        let file = file.unwrap().path();
        println!("{}", file.display());
        let world = World::new();
        let model = world.script("[[reply]]\ntext = \"It goes on.\"\n");
        let journal = std::fs::read_to_string(&file).unwrap();
        std::fs::create_dir_all(world.path("home/sessions")).unwrap();
        world.write("home/sessions/a.jsonl", moved(&journal, world.workspace().to_str().unwrap()));
        let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--resume", "a"]);
        glass.waits_for("script.toml · ");
        glass.types("\x14");
        glass.waits_for("q: back");
        glass.types("q");
        glass.waits_without("q: back");
        // What these hold is any text at all.
        assert_eq!(glass.foreign(), Vec::<String>::new());
        glass.signals(rustix::process::Signal::TERM);
        assert_eq!(glass.ends().0, 130);
        n_opened += 1;
    }
    assert!(n_opened >= 10, "{n_opened} golden files");
}

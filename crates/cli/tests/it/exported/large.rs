//! A session of ten megabytes: its page is loaded, and says how long that took.

use std::time::Instant;

use super::browser::{self, Browser};
use super::exported;
use crate::long::store;
use crate::support::World;

const TURNS: u32 = 250;
const RESULT_BYTES: usize = 40_000;

#[test]
fn a_page_of_ten_megabytes_loads_and_is_whole() {
    if !browser::is_there() {
        return;
    }
    let world = World::new();
    let id = store(&world, TURNS, RESULT_BYTES);
    let page = exported(&world, &id, "large.html");
    let bytes = std::fs::metadata(&page).unwrap().len();
    assert!(bytes > 10_000_000, "{bytes}");
    let mut browser = Browser::open();
    let began = Instant::now();
    browser.loads(&page);
    println!("{bytes} bytes loaded in {:?}", began.elapsed());
    // What is far away is not laid out before somebody goes there.
    let counted = browser.says(
        "[document.querySelectorAll('section.turn').length,
          document.querySelectorAll('details.call').length,
          document.querySelectorAll('details.call[open]').length,
          document.querySelector('#turn-250 .answer').textContent,
          getComputedStyle(document.querySelector('#turn-250')).contentVisibility,
          document.querySelector('#turn-250 pre + pre').textContent.length > 30000]",
    );
    assert_eq!(counted, serde_json::json!([250, 250, 0, "answer 250", "auto", true]));
}

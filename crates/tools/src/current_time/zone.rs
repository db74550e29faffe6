//! The zone of whoever started this process.

use std::fs::{File, read_link};
use std::io::Read as _;
use std::path::{Component, Path};

use jiff::tz::TimeZone;

/// Where systems keep a file for each zone that has a name.
const FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];
/// What says which of them is the machine's, by leading to it.
const OF_MACHINE: &str = "/etc/localtime";
/// The most bytes of such a file; the largest have some thousands.
const ZONE_BYTES_MAX: u64 = 1024 * 1024;

/// The zone that `TZ` names, else the machine's; UTC where nothing tells it.
///
/// A name is looked up here: the library's own database of them is larger than all this.
#[must_use]
pub fn zone_of_system() -> TimeZone {
    let name = match std::env::var("TZ") {
        Ok(name) => Some(name),
        Err(_) => name_of_machine(),
    };
    let named = name.and_then(|name| named(name.strip_prefix(':').unwrap_or(&name)));
    named.or_else(|| TimeZone::try_system().ok()).unwrap_or(TimeZone::UTC)
}

/// `Europe/Berlin` of a link to `/usr/share/zoneinfo/Europe/Berlin`.
fn name_of_machine() -> Option<String> {
    let target = read_link(OF_MACHINE).ok()?;
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    Some(name.to_owned())
}

/// The zone with this name. Rules (`CET-1CEST`) and files are no names.
fn named(name: &str) -> Option<TimeZone> {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.is_empty() || !Path::new(name).components().all(is_name) {
        return None;
    }
    let file = FOLDERS.iter().find_map(|folder| File::open(Path::new(folder).join(name)).ok())?;
    let mut bytes = Vec::new();
    file.take(ZONE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    TimeZone::tzif(name, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_leads_to_no_file() {
        for name in ["", "/etc/localtime", "../zoneinfo/UTC", "CET-1CEST", ".", "Nowhere/Else"] {
            assert!(named(name).is_none(), "{name}");
        }
    }
}

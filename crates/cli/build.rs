//! Packs the published schemas: as text they are a hundred kilobytes of the program.

use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::ZlibEncoder;

const PUBLISHED: [&str; 2] = ["events", "input"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = env::var_os("OUT_DIR").ok_or("cargo tells where to write")?;
    for name in PUBLISHED {
        let schema = format!("../../docs/{name}.schema.json");
        println!("cargo::rerun-if-changed={schema}");
        let text = fs::read(&schema).map_err(|error| format!("{schema}: {error}"))?;
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        std::io::Write::write_all(&mut packed, &text)?;
        fs::write(Path::new(&out).join(format!("{name}.schema.z")), packed.finish()?)?;
    }
    Ok(())
}

//! Turns the compiled bindings into a `.wasm` file and its JavaScript glue.
//!
//! `payroute-pkg-build <input.wasm> <output folder>` does what the wasm-bindgen command line does
//! with `--target web --omit-default-module-path --out-name core`.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: payroute-pkg-build <input.wasm> <output folder>");
        return ExitCode::FAILURE;
    };
    match generate(input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{input}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The loaders name the `.wasm` file themselves, so the glue must not: a bundler would emit it twice.
fn generate(input: &str, output: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("core").typescript(true).omit_default_module_path(true);
    bindgen.web(true)?;
    bindgen.generate(output)?;
    Ok(())
}

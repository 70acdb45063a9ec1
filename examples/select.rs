//! The selector for real input: reads a 402 and a configuration, writes the ranking as JSON lines.
//!
//! Standard output carries JSON and nothing else; explanations and complaints go to standard error.
//! Refuses to pay, to keep anything between runs, and to read more than the limits allow.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use payroute::{Candidate, Config, Deficit, PaymentRequired, RouteSelector, SelectError, Selection, explain};
use serde::Serialize;

const HELP: &str = r#"Ranks the offers of an x402 402 answer by what the buyer can pay.

Usage: select --config FILE [--repeat N] [--interval-ms M] [--explain] [INPUT]

  INPUT            a file, or - for standard input (default): version 1 or 2 JSON,
                   or the value of a PAYMENT-REQUIRED header
  --config FILE    the configuration, a JSON file
  --repeat N       select N times with one selector, so that health carries over (default 1)
  --interval-ms M  wait M milliseconds in between (default 0)
  --explain        write the ranking in words to standard error as well
  --help           print this

Every selection is one line of JSON on standard output:
  {"selected": {...}, "candidates": [...]}
  {"error": {"code": "...", "message": "...", "deficits": [...], "candidates": [...]}}

Exit status: 0 the last selection found an offer to pay, 1 it did not or the input is no 402,
2 bad usage or configuration.

A configuration, of which every field is optional:
  {
    "owners":   { "eip155": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
    "networks": { "base": { "rpc": ["https://mainnet.base.org", "https://base-rpc.publicnode.com"] } },
    "routing":  { "preferNetworks": ["base"] },
    "policy":   { "maxAmount": { "USDC": "1.00" } }
  }
"#;

const FLAGS: &str = "--config FILE, --repeat N, --interval-ms M, --explain, --help";

/// A configuration of more bytes is a mistaken file.
const MOST_CONFIG_BYTES: usize = 1024 * 1024;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(complaint) => {
            say(&format!("select: {complaint}\n"));
            ExitCode::from(2)
        }
    }
}

/// An `Err` is bad usage or configuration, for people; everything else is answered in JSON.
async fn run() -> Result<ExitCode, String> {
    let Some(args) = Args::parse(std::env::args_os().skip(1))? else {
        print(HELP.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    let config = read_config(&args.config)?;
    let input = read_input(&args.input, &config)?;
    let payment = match decode(&input, &config) {
        Ok(payment) => payment,
        Err(line) => {
            print(&line.text()?)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let selector = RouteSelector::new(config).map_err(|error| error.to_string())?;
    let mut code = ExitCode::FAILURE;
    for round in 0..args.repeat {
        if round > 0 {
            tokio::time::sleep(args.interval).await;
        }
        let answer = selector.select(&payment).await;
        code = if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        if args.explain {
            say(&words(&answer));
        }
        if !print(&Line::of(&answer).text()?)? {
            break;
        }
    }
    Ok(code)
}

struct Args {
    config: OsString,
    input: OsString,
    repeat: u64,
    interval: Duration,
    explain: bool,
}

impl Args {
    /// `None` asks for help.
    fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let (mut config, mut input) = (None, None);
        let (mut repeat, mut interval_ms, mut explain) = (1, 0, false);
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some("--config") => config = Some(words.next().ok_or("--config: the path of a JSON file is missing")?),
                Some("--repeat") => repeat = whole_number("--repeat", 1, words.next())?,
                Some("--interval-ms") => interval_ms = whole_number("--interval-ms", 0, words.next())?,
                Some("--explain") => explain = true,
                Some(flag) if flag.starts_with('-') && flag != "-" => {
                    return Err(format!("`{}` is not known; accepted are {FLAGS}", flag.escape_debug()));
                }
                _ if input.is_some() => return Err("INPUT: is given twice; accepted is one file, or -".to_owned()),
                _ => input = Some(word),
            }
        }
        Ok(Some(Self {
            config: config.ok_or("--config: is missing; accepted is the path of a JSON file, see --help")?,
            input: input.unwrap_or_else(|| "-".into()),
            repeat,
            interval: Duration::from_millis(interval_ms),
            explain,
        }))
    }
}

fn whole_number(flag: &str, least: u64, word: Option<OsString>) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("{flag}: a whole number from {least} is missing"))?;
    let number = word.to_str().and_then(|text| text.parse().ok()).filter(|number| *number >= least);
    number.ok_or_else(|| {
        format!("{flag}: `{}` is not a whole number from {least}", word.to_string_lossy().escape_debug())
    })
}

fn read_config(path: &OsString) -> Result<Config, String> {
    let name = format!("--config {}", path.to_string_lossy().escape_debug());
    let complain = |error: io::Error| format!("{name}: cannot be read: {error}");
    let bytes = read_bounded(File::open(path).map_err(complain)?, MOST_CONFIG_BYTES).map_err(complain)?;
    if bytes.len() > MOST_CONFIG_BYTES {
        return Err(format!("{name}: has over {MOST_CONFIG_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{name}: is not UTF-8 text"))?;
    Config::from_json(&text).map_err(|error| format!("{name}: {error}"))
}

/// One byte more than the limits allow at most, so that decoding can tell that it is too much.
fn read_input(path: &OsString, config: &Config) -> Result<Vec<u8>, String> {
    let most = config.limits().body_bytes.max(config.limits().header_bytes);
    let bytes = match path == "-" {
        true => read_bounded(io::stdin().lock(), most),
        false => File::open(path).and_then(|file| read_bounded(file, most)),
    };
    bytes.map_err(|error| match path == "-" {
        true => format!("standard input cannot be read: {error}"),
        false => format!("INPUT {}: cannot be read: {error}", path.to_string_lossy().escape_debug()),
    })
}

/// At most `most + 1` bytes.
fn read_bounded(reader: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn decode(input: &[u8], config: &Config) -> Result<PaymentRequired, Line<'static>> {
    PaymentRequired::from_text(input, config.limits()).map_err(|error| {
        let error = SelectError::from(error);
        let refusal = Refusal { code: error.code(), message: error.to_string(), deficits: &[], candidates: &[] };
        Line::Refused { error: refusal }
    })
}

/// A line of the output.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Selected { selected: &'a Candidate, candidates: &'a [Candidate] },
    Refused { error: Refusal<'a> },
}

#[derive(Serialize)]
struct Refusal<'a> {
    code: &'static str,
    message: String,
    deficits: &'a [Deficit],
    candidates: &'a [Candidate],
}

impl<'a> Line<'a> {
    fn of(answer: &'a Result<Selection, SelectError>) -> Self {
        match answer {
            Ok(selection) => Self::Selected { selected: selection.selected(), candidates: selection.candidates() },
            Err(error) => Self::Refused {
                error: Refusal {
                    code: error.code(),
                    message: error.to_string(),
                    deficits: error.deficits(),
                    candidates: error.candidates(),
                },
            },
        }
    }

    fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| format!("the answer cannot be written as JSON: {error}"))
    }
}

fn words(answer: &Result<Selection, SelectError>) -> String {
    match answer {
        Ok(selection) => selection.explain(),
        Err(error) if error.candidates().is_empty() => format!("{error}\n"),
        Err(error) => explain(error.candidates()),
    }
}

/// Whether anyone still reads: a closed pipe, as after `| head -1`, is no complaint.
fn print(line: &str) -> Result<bool, String> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("standard output cannot be written: {error}")),
    }
}

/// Unlike `eprint!`, does not panic when standard error is closed: then there is nobody to tell.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

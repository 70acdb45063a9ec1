//! An agent on the command line: asks for a URL and pays for it if it must.
//!
//! Standard output is the answer's body and nothing else; what was chosen and why goes to standard
//! error. Keys come from the environment alone, never from an argument that a process list shows.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use payroute::{HoldError, RouteSelector, SelectError, explain};
use payroute_agent::{PayError, Payment, PayrouteMiddleware, Wallet};
use reqwest::{Method, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error};

const HELP: &str = r#"Asks for a URL; where the answer is 402, pays with the offer that payroute selects.

Usage: payroute-agent --config FILE [--method METHOD] [--data TEXT] URL

  --config FILE    payroute's configuration, a JSON file; owners are filled in from the keys
  --method METHOD  default GET, with --data POST
  --data TEXT      the request's body
  --help           print this

Environment:
  EVM_PRIVATE_KEY  the key that pays on EVM networks, in hexadecimal
  SVM_PRIVATE_KEY  the key pair that pays on Solana, in base58

The body of the answer goes to standard output, the ranking of the offers to standard error.

Exit status: 0 the answer is a success, 1 it is not or nothing could be paid, 2 bad usage or configuration.
"#;

const FLAGS: &str = "--config FILE, --method METHOD, --data TEXT, --help";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = match Arguments::read(env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(complaint) => return bad_usage(&complaint),
    };
    let client = match client(&arguments.config) {
        Ok(client) => client,
        Err(complaint) => return bad_usage(&complaint),
    };
    let mut request = client.request(arguments.method, &arguments.url);
    if let Some(data) = arguments.data {
        request = request.body(data);
    }
    match request.send().await {
        Ok(response) => show(response).await,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn bad_usage(complaint: &str) -> ExitCode {
    eprintln!("payroute-agent: {complaint}");
    ExitCode::from(2)
}

/// A client that pays with the keys of the environment, by the configuration in `file`.
fn client(file: &str) -> Result<ClientWithMiddleware, String> {
    let document = std::fs::read_to_string(file).map_err(|error| format!("--config {file}: {error}"))?;
    let (evm, solana) = (env::var("EVM_PRIVATE_KEY").ok(), env::var("SVM_PRIVATE_KEY").ok());
    if evm.is_none() && solana.is_none() {
        return Err("no key; set EVM_PRIVATE_KEY, SVM_PRIVATE_KEY or both".into());
    }
    let wallet = Wallet::from_keys(evm.as_deref(), solana.as_deref()).map_err(|error| error.to_string())?;
    let config = wallet.config(&document).map_err(|error| format!("--config {file}: {error}"))?;
    let selector = RouteSelector::new(config).map_err(|error| error.to_string())?;
    let payer = PayrouteMiddleware::new(wallet.client(&selector), selector);
    Ok(ClientBuilder::new(reqwest::Client::new()).with(payer).build())
}

async fn show(mut response: Response) -> ExitCode {
    if let Some(payment) = response.extensions().get::<Payment>() {
        eprint!("{}", payment.selection().explain());
        for refusal in payment.passed_over() {
            eprintln!("passed over: {refusal}");
        }
        let index = payment.candidate().requirement_index;
        eprintln!("a payment for offer {index} was sent; the answer is {}", response.status());
    }
    let code = if response.status().is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) if io::stdout().write_all(&bytes).is_ok() => {}
            Ok(_) => return code,
            Err(error) => {
                eprintln!("payroute-agent: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
}

/// What failed, by its code where it has one, after the ranking that it follows where there is one.
fn complain(error: &Error) {
    let Error::Middleware(cause) = error else {
        return eprintln!("payroute-agent: {error}");
    };
    let code = if let Some(error) = cause.downcast_ref::<SelectError>() {
        eprint!("{}", explain(error.candidates()));
        error.code()
    } else if let Some(error) = cause.downcast_ref::<PayError>() {
        if let PayError::Unsignable { selection, .. } = error {
            eprint!("{}", selection.explain());
        }
        error.code()
    } else {
        cause.downcast_ref::<HoldError>().map_or("failed", HoldError::code)
    };
    eprintln!("payroute-agent: {code}: {cause}");
}

struct Arguments {
    url: String,
    config: String,
    method: Method,
    data: Option<String>,
}

impl Arguments {
    /// `None` when help was asked for.
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let (mut url, mut config, mut method, mut data) = (None, None, None, None);
        while let Some(argument) = arguments.next() {
            let slot = match argument.as_str() {
                "--help" => return Ok(None),
                "--config" => &mut config,
                "--method" => &mut method,
                "--data" => &mut data,
                flag if flag.starts_with('-') => return Err(format!("{flag}: unknown; accepted are {FLAGS}")),
                _ => {
                    if url.replace(argument).is_some() {
                        return Err("more than one URL".into());
                    }
                    continue;
                }
            };
            let value = arguments.next().ok_or_else(|| format!("{argument}: needs a value"))?;
            if slot.replace(value).is_some() {
                return Err(format!("{argument}: given twice"));
            }
        }
        let default = if data.is_some() { Method::POST } else { Method::GET };
        let method = method.map_or(Ok(default), |name| name.parse().map_err(|_| "--method: not a method".to_owned()));
        Ok(Some(Self {
            url: url.ok_or("a URL is missing; --help explains")?,
            config: config.ok_or("--config FILE is missing; --help explains")?,
            method: method?,
            data,
        }))
    }
}

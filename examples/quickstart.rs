//! The main job as a story: a shop answers 402, payroute says which offer to pay, and why.
//!
//! Everything runs in this process, on loopback: four RPC nodes over one ledger, and the shop.
//! Refuses to reach beyond loopback, to sign and to pay.

mod support;

use std::error::Error;

use payroute::{Config, ConfigurationError, Limits, PaymentRequired, RouteSelector, SelectError, Selection, rank};
use reqwest::StatusCode;
use serde_json::json;
use support::world::{BASE, BASE_SEPOLIA, BUYER_EVM, BUYER_SOLANA, ETHEREUM, ETHEREUM_SEPOLIA, SOLANA, World};
use support::{say, table};

type Answer = Result<Selection, SelectError>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let world = World::start().await?;
    let selector = RouteSelector::new(buyers_config(&world)?)?;
    let offers = order(world.shop_url()).await?;
    introduce(&offers);

    heading("1. Enough everywhere", "the buyer holds 5 USDC on each network.");
    world.set_balances(&[(BASE, 5_000_000), (SOLANA, 5_000_000), (BASE_SEPOLIA, 5_000_000)]);
    let answer = selector.select(&offers).await;
    report(&world, &answer);
    show_what_to_sign(&answer);
    show_without_preference(&answer);

    heading("2. The preferred network is short", "0.02 USDC is left on Base.");
    world.set_balances(&[(BASE, 20_000)]);
    report(&world, &selector.select(&offers).await);

    heading(
        "3. Two endpoints lie about their chain",
        "the buyer holds 5 USDC on Base again, but base-1 serves Ethereum and tells of a million USDC\n\
         there, and sepolia serves Ethereum Sepolia. Base has a second endpoint, Base Sepolia has none.",
    );
    world.set_balances(&[(BASE, 5_000_000), (ETHEREUM, 1_000_000_000_000)]);
    world.reroute("base-1", ETHEREUM);
    world.reroute("sepolia", ETHEREUM_SEPOLIA);
    report(&world, &selector.select(&offers).await);
    show_who_is_asked_next(&world, &selector, &offers).await?;

    heading(
        "4. Nothing suffices",
        "the endpoints are honest again, reset_health() forgets that they were not, and the buyer\n\
         has spent nearly everything.",
    );
    world.reroute("base-1", BASE);
    world.reroute("sepolia", BASE_SEPOLIA);
    selector.reset_health();
    world.set_balances(&[(BASE, 20_000), (SOLANA, 49_999), (BASE_SEPOLIA, 0)]);
    report(&world, &selector.select(&offers).await);
    Ok(())
}

/// The buyer's own document: who pays, whom to ask, what to prefer, what paying costs besides.
fn buyers_config(world: &World) -> Result<Config, ConfigurationError> {
    let document = json!({
        "owners": { "eip155": BUYER_EVM, "solana": BUYER_SOLANA },
        "networks": {
            "base": { "rpc": [world.url("base-1"), world.url("base-2")] },
            "base-sepolia": { "rpc": [world.url("sepolia")] },
            "solana": { "rpc": [world.url("solana")] },
        },
        "routing": { "preferNetworks": ["base", "solana", "base-sepolia"] },
        "fees": { "base": "1000", "base-sepolia": "2000" },
    });
    Config::from_json(&document.to_string())
}

/// Orders something and is told to pay first.
async fn order(url: String) -> Result<PaymentRequired, Box<dyn Error>> {
    let response = reqwest::Client::builder().no_proxy().build()?.get(url).send().await?;
    if response.status() != StatusCode::PAYMENT_REQUIRED {
        return Err("the shop does not ask for payment".into());
    }
    let headers = response.headers().clone();
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    Ok(PaymentRequired::from_response(headers, &response.bytes().await?, &Limits::default())?)
}

fn introduce(offers: &PaymentRequired) {
    say(format_args!(
        "A shop asks for 0.05 USDC: its {} lists {} offers, numbered from 0.\n\
         The buyer prefers Base (endpoints base-1, base-2), then Solana (solana), then Base Sepolia (sepolia).\n\
         base-2 is asked when base-1 fails. All of it runs in this process, on loopback.",
        offers.carrier(),
        offers.requirements().len(),
    ));
}

fn heading(title: &str, change: &str) {
    say(format_args!("\n\n== {title} ==\n\nNow {change}"));
}

/// The ranking, why some offers cannot be paid, and the answer in a sentence.
fn report(world: &World, answer: &Answer) {
    let candidates = match answer {
        Ok(selection) => selection.candidates(),
        Err(error) => error.candidates(),
    };
    say(format_args!("\n{}", table::ranking(candidates, |endpoint| world.with_names(endpoint))));
    for candidate in candidates {
        for rejection in candidate.rejections.iter() {
            say(format_args!("offer {}: {}", candidate.requirement_index, world.with_names(&rejection.to_string())));
        }
    }
    match answer {
        Ok(selection) => {
            let (selected, object) = (selection.selected(), selection.requirement());
            let (price, network) = (table::price(selected), selected.network_name.as_deref().unwrap_or("?"));
            let (index, bytes) = (object.index(), object.json().len());
            say(format_args!(
                "\n=> Pay offer {index}: {price} on {network}. The shop's object is kept, all {bytes} bytes."
            ));
        }
        Err(error) => {
            say(format_args!("\n=> Pay nothing: {}. Any one of these would help:", error.code()));
            error.deficits().iter().for_each(|deficit| say(format_args!("   {deficit}")));
        }
    }
}

/// Servers compare what is paid with what they offered, so a signer gets the very same text.
fn show_what_to_sign(answer: &Answer) {
    if let Ok(selection) = answer {
        say(format_args!("   {}", selection.requirement().json()));
    }
}

/// `rank` is pure: what-if costs no request.
fn show_without_preference(answer: &Answer) {
    if let Ok(selection) = answer {
        let mut candidates = selection.candidates().to_vec();
        rank(&mut candidates, &[]);
        let order = candidates.iter().map(|candidate| match candidate.decided_by {
            Some(key) => format!("offer {} (behind by {key})", candidate.requirement_index),
            None => format!("offer {}", candidate.requirement_index),
        });
        say(format_args!("=> Without preferences, fees would decide: {}.", order.collect::<Vec<_>>().join(", ")));
    }
}

/// The circuit of an endpoint that was caught lying is open for 30 seconds.
async fn show_who_is_asked_next(
    world: &World,
    selector: &RouteSelector,
    offers: &PaymentRequired,
) -> Result<(), SelectError> {
    let (liar, honest) = (world.requests("base-1"), world.requests("base-2"));
    selector.select(offers).await?;
    let (liar, honest) = (world.requests("base-1") - liar, world.requests("base-2") - honest);
    say(format_args!(
        "=> Selected again at once: base-1 gets {liar} requests, for its circuit is open; base-2 gets {honest}."
    ));
    Ok(())
}

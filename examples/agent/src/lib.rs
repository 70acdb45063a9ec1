//! A [`reqwest_middleware`] that answers HTTP 402 by itself: payroute chooses the offer, x402-rs signs
//! it, the request is sent again with the payment.
//!
//! ```no_run
//! use payroute::{RouteSelector, SelectError};
//! use payroute_agent::{PayrouteMiddleware, Wallet};
//! use reqwest_middleware::{ClientBuilder, Error};
//!
//! # async fn run(key: &str, config: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let wallet = Wallet::from_keys(Some(key), None)?;
//! let selector = RouteSelector::new(wallet.config(config)?)?;
//! let payer = PayrouteMiddleware::new(wallet.client(&selector), selector.clone());
//! let client = ClientBuilder::new(reqwest::Client::new()).with(payer).build();
//!
//! match client.get("https://shop.example/item").send().await {
//!     Ok(response) => println!("{}", response.status()),
//!     Err(Error::Middleware(error)) => match error.downcast_ref::<SelectError>() {
//!         Some(error) => error.deficits().iter().for_each(|deficit| println!("{deficit}")),
//!         None => println!("{error}"),
//!     },
//!     Err(error) => println!("{error}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What it holds itself to:
//!
//! - Every carrier of a 402 that payroute reads is read, the stock client's two and the others.
//! - The x402 client is shown the chosen offer alone, with the merchant's own bytes. Only what it cannot
//!   sign is followed by the next offer that can be paid.
//! - Once a signature is out nothing is chosen again: a second 402 is returned as it is, and an answer
//!   that never comes is a [`PayError::Unanswered`].
//! - Requests at once do not count on the same money: what one is about to spend is held.
//! - A request that carries a payment already, and every response but a 402, pass untouched.

mod challenge;
mod error;
mod middleware;
mod narrow;
mod payment;
mod redact;
mod signed;
#[cfg(feature = "wallet")]
mod wallet;

pub use error::{PayError, Refusal};
pub use middleware::PayrouteMiddleware;
pub use payment::Payment;
#[cfg(feature = "wallet")]
pub use wallet::{Wallet, WalletError};

/// The README's example, compiled by the documentation tests.
#[cfg(all(doctest, feature = "wallet"))]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

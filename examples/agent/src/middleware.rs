//! The middleware: a request, its 402, one signed offer, the request again.
//!
//! Control flow alone. Which offer is payroute's answer, the signature is x402-reqwest's; what a 402
//! looks like on the wire is `challenge`'s and `narrow`'s business.

use async_trait::async_trait;
use http::{Extensions, HeaderMap, StatusCode};
use payroute::{Candidate, HoldError, PaymentRequired, RouteSelector, Selection};
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next, Result};
use x402_reqwest::X402Client;
use x402_types::scheme::client::{FirstMatch, PaymentSelector};

use crate::error::{PayError, Refusal};
use crate::payment::Payment;
use crate::signed::Signed;
use crate::{challenge, narrow};

/// Selections for one request: the first, and others where payments beside it were quicker to hold what it
/// would have spent.
const MOST_SELECTIONS: u32 = 3;

/// Pays for what answers 402, with the offer that payroute selects.
///
/// Give it to [`reqwest_middleware::ClientBuilder::with`] instead of the x402 client itself. Retries
/// belong after it (they repeat one payment, which a token takes once), never before it (they would
/// pay again).
///
/// The owners in the selector's configuration must be the accounts that `client` signs for: a balance
/// is read of the one and spent from the other. Where they differ nothing is sent.
pub struct PayrouteMiddleware<S = FirstMatch> {
    client: X402Client<S>,
    selector: RouteSelector,
}

impl<S: PaymentSelector + 'static> PayrouteMiddleware<S> {
    /// A middleware that chooses by `selector` and signs by `client`.
    ///
    /// A payment selector of the client's own (a spending limit, for example) is asked about the one
    /// offer that was chosen; if it says no, the next payable one is tried.
    pub fn new(client: X402Client<S>, selector: RouteSelector) -> Self {
        Self { client, selector }
    }
}

#[async_trait]
impl<S: PaymentSelector + 'static> Middleware for PayrouteMiddleware<S> {
    async fn handle(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        if carries_payment(request.headers()) {
            return next.run(request, extensions).await;
        }
        let again = request.try_clone();
        let response = next.clone().run(request, extensions).await?;
        if response.status() != StatusCode::PAYMENT_REQUIRED {
            return Ok(response);
        }
        let mut again = again.ok_or_else(|| Error::middleware(PayError::BodyNotRepeatable))?;
        let (payment, headers) = self.pay(response).await?;
        again.headers_mut().extend(headers);
        // From here on a signature is out: whatever comes back is the answer.
        match next.run(again, extensions).await {
            Ok(mut response) => {
                response.extensions_mut().insert(payment);
                Ok(response)
            }
            Err(source) => Err(Error::middleware(PayError::Unanswered { payment: Box::new(payment), source })),
        }
    }
}

impl<S: PaymentSelector + 'static> PayrouteMiddleware<S> {
    /// The payment that answers a 402, signed and not yet sent.
    async fn pay(&self, response: Response) -> Result<(Payment, HeaderMap)> {
        let required = challenge::read(response, self.selector.config().limits()).await?;
        let mut selections = 1;
        loop {
            let selection = self.selector.select(&required).await.map_err(Error::middleware)?;
            match self.sign_best(&required, selection).await? {
                Ok(signed) => return Ok(signed),
                Err(held) if selections == MOST_SELECTIONS => return Err(Error::middleware(held)),
                // The next selection knows what the other payment holds.
                Err(_) => selections += 1,
            }
        }
    }

    /// Signs the best offer that the client can sign, with its price held; the inner error if another
    /// payment was first to hold it.
    async fn sign_best(
        &self,
        required: &PaymentRequired,
        selection: Selection,
    ) -> Result<std::result::Result<(Payment, HeaderMap), HoldError>> {
        let mut refusals = Vec::new();
        for (place, candidate) in selection.candidates().iter().enumerate() {
            let hold = match selection.hold_requirement(candidate.requirement_index) {
                Ok(hold) => hold,
                Err(HoldError::NotPayable(_)) => break,
                Err(held) => return Ok(Err(held)),
            };
            match self.sign(required, candidate).await {
                Ok(headers) => {
                    check_signer(candidate, &headers).map_err(Error::middleware)?;
                    // Whatever becomes of the request: it counts until the chain shows it or it expires.
                    hold.settle();
                    return Ok(Ok((Payment::new(selection, place, refusals), headers)));
                }
                Err(problem) => refusals.push(Refusal::new(candidate, &problem)),
            }
        }
        Err(Error::middleware(PayError::Unsignable { selection: Box::new(selection), refusals }))
    }

    /// The headers of a payment by this offer and no other, or why the client cannot make them.
    async fn sign(&self, required: &PaymentRequired, candidate: &Candidate) -> std::result::Result<HeaderMap, String> {
        let requirement = required.requirements().get(candidate.requirement_index).ok_or("the offer is missing")?;
        let challenge = narrow::to_one(required, requirement).map_err(|error| error.to_string())?;
        let mut headers = self.client.make_payment_headers(challenge).await.map_err(|error| error.to_string())?;
        if let Some(approval) = Signed::read(&headers).and_then(|signed| signed.lacks(candidate)) {
            return Err(format!("the client does not sign the approval that is needed with it ({approval})"));
        }
        headers.values_mut().for_each(|value| value.set_sensitive(true));
        Ok(headers)
    }
}

/// A payment that cannot be looked into is the client's responsibility.
fn check_signer(candidate: &Candidate, headers: &HeaderMap) -> std::result::Result<(), PayError> {
    let (index, Some(owner)) = (candidate.requirement_index, &candidate.owner) else { return Ok(()) };
    match Signed::read(headers).and_then(|signed| signed.is_by(owner)) {
        Some(false) => Err(PayError::WrongSigner { requirement_index: index, owner: owner.clone() }),
        _ => Ok(()),
    }
}

/// Whether the application, or somebody before this middleware, pays for the request already.
fn carries_payment(headers: &HeaderMap) -> bool {
    headers.contains_key("payment-signature") || headers.contains_key("x-payment")
}

//! What was paid, for the application to look at.

use payroute::{Candidate, Selection};

use crate::error::Refusal;

/// The payment that a request was repeated with: signed and sent. Whether the merchant took it is said
/// by the response, which carries this in its extensions.
///
/// ```no_run
/// # fn f(response: reqwest::Response) {
/// if let Some(payment) = response.extensions().get::<payroute_agent::Payment>() {
///     eprintln!("{}", payment.selection().explain());
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Payment {
    selection: Selection,
    place: usize,
    passed_over: Vec<Refusal>,
}

impl Payment {
    pub(crate) fn new(selection: Selection, place: usize, passed_over: Vec<Refusal>) -> Self {
        Self { selection, place, passed_over }
    }

    /// The offer that was signed: the selected one, unless the client could not sign it.
    #[must_use]
    pub fn candidate(&self) -> &Candidate {
        self.selection.candidates().get(self.place).unwrap_or_else(|| self.selection.selected())
    }

    /// The selection that it follows: the ranking, and why.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Better offers that the client could not sign, in the order they were tried.
    #[must_use]
    pub fn passed_over(&self) -> &[Refusal] {
        &self.passed_over
    }
}

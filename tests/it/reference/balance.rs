//! Which of the balances that a selection was told stands.

use super::Place;

/// A balance, and who told it.
pub type Telling = (Place, u64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub balance: u64,
    pub by: Place,
    /// Who said less.
    pub contradicted: Option<Place>,
}

impl Standing {
    /// Nobody knows which of two is right: whoever said more stands, the first where both said the same.
    pub fn of((first, balance): Telling, second: Option<Telling>) -> Self {
        match second {
            Some((second, more)) if more > balance => Self { balance: more, by: second, contradicted: Some(first) },
            Some((second, less)) if less < balance => Self { balance, by: first, contradicted: Some(second) },
            _ => Self { balance, by: first, contradicted: None },
        }
    }
}

//! Numbers: fractions of whole numbers as long as that goes, then the nearest a float can tell.

use std::fmt;

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

/// Bits of a numerator or denominator.
const BITS_MAX: u64 = 10_000;
/// The largest number whose factorial is taken; it has 8,530 bits.
const FACTORIAL_MAX: u64 = 1_000;
/// Digits behind the point of a value that is shown exactly.
const DECIMALS_MAX: usize = 40;
/// Digits of a value that is shown as near as that.
const DIGITS: usize = 30;
/// Bytes of a fraction that is shown beside its nearest decimal.
const FRACTION_BYTES_MAX: usize = 100;

const TOO_LARGE: &str = "the value would have more than 10000 bits";
const TOO_SMALL: &str = "it is too near to 0 to go on with it";
const TOO_FAR: &str = "it is too large to go on with it";

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    Exact(BigRational),
    /// Finite.
    Near(f64),
}

use Number::{Exact, Near};

type Result<T> = std::result::Result<T, String>;

impl Number {
    /// A decimal number: its digits without a point, and how many of them stand behind that.
    pub(super) fn of_decimal(digits: &[u8], exponent: i64) -> Result<Self> {
        let whole = BigInt::parse_bytes(digits, 10).unwrap_or_default();
        Self::Exact(whole.into()).times(&Self::whole(10).power(&Self::whole(exponent))?)
    }

    pub(super) fn of_radix(digits: &[u8], radix: u32) -> Option<Self> {
        BigInt::parse_bytes(digits, radix).map(|whole| Exact(whole.into()))
    }

    pub(super) fn whole(number: i64) -> Self {
        Exact(BigInt::from(number).into())
    }

    pub(super) fn near(value: f64) -> Result<Self> {
        if value.is_finite() { Ok(Near(value)) } else { Err("the value is not finite".to_owned()) }
    }

    fn float(&self) -> f64 {
        match self {
            Exact(exact) => exact.to_f64().unwrap_or(f64::NAN),
            Near(near) => *near,
        }
    }

    /// The same where it must not become nothing or endless by that.
    fn finite_float(&self) -> Result<f64> {
        let float = self.float();
        match self {
            Exact(exact) if float == 0.0 && !exact.is_zero() => Err(TOO_SMALL.to_owned()),
            Exact(_) if !float.is_finite() => Err(TOO_FAR.to_owned()),
            _ => Ok(float),
        }
    }

    fn is_negative(&self) -> bool {
        match self {
            Exact(exact) => exact.is_negative(),
            Near(near) => *near < 0.0,
        }
    }

    fn exact(value: BigRational) -> Result<Self> {
        match value.numer().bits().max(value.denom().bits()) > BITS_MAX {
            true => Err(TOO_LARGE.to_owned()),
            false => Ok(Exact(value)),
        }
    }

    fn both(
        &self,
        other: &Self,
        exactly: impl Fn(&BigRational, &BigRational) -> BigRational,
        nearly: impl Fn(f64, f64) -> f64,
    ) -> Result<Self> {
        match (self, other) {
            (Exact(one), Exact(other)) => Self::exact(exactly(one, other)),
            _ => Self::near(nearly(self.float(), other.float())),
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Result<Self> {
        self.both(other, |a, b| a + b, |a, b| a + b)
    }

    pub(super) fn minus(&self, other: &Self) -> Result<Self> {
        self.both(other, |a, b| a - b, |a, b| a - b)
    }

    pub(super) fn times(&self, other: &Self) -> Result<Self> {
        self.both(other, |a, b| a * b, |a, b| a * b)
    }

    pub(super) fn over(&self, other: &Self) -> Result<Self> {
        other.is_divisor()?;
        self.both(other, |a, b| a / b, |a, b| a / b)
    }

    /// What remains has the sign of what is divided.
    pub(super) fn remainder(&self, other: &Self) -> Result<Self> {
        other.is_divisor()?;
        self.both(other, |a, b| a % b, |a, b| a % b)
    }

    fn is_divisor(&self) -> Result<()> {
        let is_zero = match self {
            Exact(exact) => exact.is_zero(),
            Near(near) => *near == 0.0,
        };
        if is_zero { Err("division by zero".to_owned()) } else { Ok(()) }
    }

    pub(super) fn negated(&self) -> Self {
        match self {
            Exact(exact) => Exact(-exact),
            Near(near) => Near(-near),
        }
    }

    pub(super) fn power(&self, exponent: &Self) -> Result<Self> {
        let (Exact(base), Exact(by)) = (self, exponent) else {
            return Self::near(self.finite_float()?.powf(exponent.float()));
        };
        if !by.is_integer() {
            let root = (by.denom() == &BigInt::from(2)).then(|| self.root()).transpose()?;
            return match root {
                Some(root @ Exact(_)) => root.power(&Exact(by.numer().clone().into())),
                _ => Self::near(self.finite_float()?.powf(exponent.float())),
            };
        }
        if base.is_zero() && by.is_negative() {
            return Err("division by zero".to_owned());
        }
        if base.is_zero() || base.numer().magnitude().is_one() && base.denom().is_one() {
            let is_odd = by.numer().is_odd();
            let is_one = by.is_zero() || !base.is_negative() && !base.is_zero();
            return Ok(match (is_one, base.is_zero()) {
                (true, _) => Self::whole(1),
                (false, true) => Self::whole(0),
                (false, false) => Self::whole(if is_odd { -1 } else { 1 }),
            });
        }
        let bits = base.numer().bits().max(base.denom().bits());
        let by = by.numer().to_i32().filter(|by| {
            // The least that the value can have.
            (bits - 1).max(1).saturating_mul(u64::from(by.unsigned_abs())) <= BITS_MAX * 2
        });
        Self::exact(base.pow(by.ok_or_else(|| TOO_LARGE.to_owned())?))
    }

    pub(super) fn factorial(&self) -> Result<Self> {
        let Exact(exact) = self else {
            return Err("only a whole number has a factorial".to_owned());
        };
        let whole = exact.is_integer().then(|| exact.numer()).filter(|whole| !whole.is_negative());
        let whole =
            whole.ok_or_else(|| "only a whole number from 0 on has a factorial".to_owned())?;
        let whole = whole.to_u64().filter(|whole| *whole <= FACTORIAL_MAX);
        let whole = whole.ok_or_else(|| format!("factorials go up to {FACTORIAL_MAX}!"))?;
        let product = (2..=whole).fold(BigInt::one(), |product, factor| product * factor);
        Self::exact(product.into())
    }

    /// The square root.
    pub(super) fn root(&self) -> Result<Self> {
        // A float tells no sign of what is too small for it, and a root of less than nothing panics.
        if self.is_negative() {
            return Err("a negative number has no square root here".to_owned());
        }
        if let Exact(exact) = self {
            let roots = BigRational::new_raw(exact.numer().sqrt(), exact.denom().sqrt());
            if &(&roots * &roots) == exact {
                return Ok(Exact(roots));
            }
        }
        Self::near(self.finite_float()?.sqrt())
    }

    /// A function of one number that has an exact value for each exact number.
    pub(super) fn map(
        &self,
        exactly: impl Fn(&BigRational) -> BigRational,
        nearly: impl Fn(f64) -> f64,
    ) -> Result<Self> {
        match self {
            Exact(exact) => Ok(Exact(exactly(exact))),
            Near(near) => Self::near(nearly(*near)),
        }
    }

    /// A function of one number that floats know.
    pub(super) fn map_near(&self, nearly: impl Fn(f64) -> f64) -> Result<Self> {
        Self::near(nearly(self.float()))
    }

    pub(super) fn is_less(&self, other: &Self) -> bool {
        match (self, other) {
            (Exact(one), Exact(other)) => one < other,
            _ => self.float() < other.float(),
        }
    }

    pub(super) fn common_divisor(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Exact(one), Exact(other)) if one.is_integer() && other.is_integer() => {
                Ok(Exact(one.numer().gcd(other.numer()).into()))
            }
            _ => Err("gcd takes whole numbers".to_owned()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = match self {
            Near(near) => return write!(f, "~{near}"),
            Exact(exact) if exact.is_integer() => return write!(f, "{}", exact.numer()),
            Exact(exact) => exact,
        };
        if let Some(decimals) = decimals(exact.denom()) {
            return f.write_str(&decimal(exact, decimals));
        }
        let fraction = exact.to_string();
        let behind = (DIGITS + digits(exact.denom())).saturating_sub(digits(exact.numer()));
        write!(f, "~{}", decimal(exact, behind))?;
        if fraction.len() <= FRACTION_BYTES_MAX {
            write!(f, ", exactly {fraction}")
        } else {
            Ok(())
        }
    }
}

/// How many digits stand behind the point, where they end.
fn decimals(denominator: &BigInt) -> Option<usize> {
    (1..=DECIMALS_MAX).find(|decimals| power_of_ten(*decimals).is_multiple_of(denominator))
}

/// With so many digits behind the point, the last one cut.
fn decimal(value: &BigRational, behind: usize) -> String {
    let scaled = (value * BigRational::from(power_of_ten(behind))).to_integer();
    let digits = scaled.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = behind + 1);
    let (whole, rest) = digits.split_at(digits.len() - behind);
    let sign = if value.numer().sign() == Sign::Minus { "-" } else { "" };
    match rest {
        "" => format!("{sign}{whole}"),
        rest => format!("{sign}{whole}.{rest}"),
    }
}

fn power_of_ten(exponent: usize) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

fn digits(number: &BigInt) -> usize {
    number.magnitude().to_string().len()
}

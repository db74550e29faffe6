//! Numbers as mathematics has them, not as they are kept.

use std::cmp::Ordering;

use serde_json::Number;

/// Doubles below this are whole numbers of 128 bits.
const WHOLE_END: f64 = 1.7e38;

/// The whole number that this is, of any sign, if it is one and not beyond all measure.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let number = number.as_f64().filter(|number| number.abs() < WHOLE_END)?;
    (number.fract() == 0.0).then_some(truncated(number))
}

/// Whether this is an integer: `1.0` is one.
pub(crate) fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// How two numbers compare, exactly.
pub(crate) fn compare(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => with_double(a, double(b)),
        (None, Some(b)) => with_double(b, double(a)).reverse(),
        (None, None) => double(a).total_cmp(&double(b)),
    }
}

/// Whether a number is a multiple of another as they are written: 0.3 is one of 0.1.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    let aligned = || {
        let ((a, a_power), (b, b_power)) = (decimal(number)?, decimal(of)?);
        let power = a_power.min(b_power);
        let scale = |digits: i128, by: i32| {
            digits.checked_mul(10i128.checked_pow((by - power).try_into().ok()?)?)
        };
        Some((scale(a, a_power)?, scale(b, b_power)?))
    };
    match aligned() {
        Some((number, of)) => of != 0 && number % of == 0,
        // Too far apart for digits to say anything.
        None => double(number) % double(of) == 0.0,
    }
}

/// A double that is no whole number, or one beyond all measure, beside a whole number.
fn with_double(whole: i128, double: f64) -> Ordering {
    if double.abs() >= WHOLE_END {
        return if double > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let floor = truncated(double.floor());
    if whole <= floor { Ordering::Less } else { Ordering::Greater }
}

/// The digits of a number, and the power of ten that they are to be multiplied by.
fn decimal(number: &Number) -> Option<(i128, i32)> {
    if !number.is_f64() {
        return Some((whole(number)?, 0));
    }
    let text = format!("{:e}", double(number));
    let (digits, power) = text.split_once('e')?;
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let digits: i128 = digits.replace('.', "").parse().ok()?;
    Some((digits, power.parse::<i32>().ok()? - i32::try_from(places).ok()?))
}

fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "a double below the end of such numbers")]
fn truncated(number: f64) -> i128 {
    number as i128
}

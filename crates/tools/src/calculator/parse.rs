//! An expression's value, found as it is read.

use super::Wrong;
use super::number::Number;

/// Parentheses, signs and powers within each other. What reads them calls itself for each.
const DEPTH_MAX: usize = 50;
/// The largest exponent of a number as it is written.
const EXPONENT_MAX: i64 = 2_000;
/// Digits of a number as it is written.
const DIGITS_MAX: usize = 1_000;

type Result<T> = std::result::Result<T, Wrong>;

/// The value of an expression.
pub(super) fn value(expression: &str) -> Result<Number> {
    let mut reader = Reader { text: expression.as_bytes(), at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(b',') => Err(reader.wrong("a comma stands between arguments of a function only")),
        Some(b')') => Err(reader.wrong("there is no ( for this )")),
        Some(_) => Err(reader.wrong("an operator is missing")),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn wrong(&self, why: impl Into<String>) -> Wrong {
        Wrong::new(self.at, why)
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Passes one of these signs, and gives where it stood.
    fn take(&mut self, sign: &str) -> Option<usize> {
        self.peek();
        self.text[self.at..].starts_with(sign.as_bytes()).then(|| {
            self.at += sign.len();
            self.at - sign.len()
        })
    }

    fn sum(&mut self) -> Result<Number> {
        let mut value = self.product()?;
        loop {
            let (at, result) = if let Some(at) = self.take("+") {
                (at, value.plus(&self.product()?))
            } else if let Some(at) = self.take("-") {
                (at, value.minus(&self.product()?))
            } else {
                return Ok(value);
            };
            value = result.map_err(|why| Wrong::new(at, why))?;
        }
    }

    fn product(&mut self) -> Result<Number> {
        let mut value = self.signed()?;
        loop {
            let (at, result) = if let Some(at) = self.take("*") {
                (at, value.times(&self.signed()?))
            } else if let Some(at) = self.take("/") {
                (at, value.over(&self.signed()?))
            } else if let Some(at) = self.take("%") {
                (at, value.remainder(&self.signed()?))
            } else {
                return Ok(value);
            };
            value = result.map_err(|why| Wrong::new(at, why))?;
        }
    }

    /// A sign holds for a power as a whole: `-2^2` is -4.
    fn signed(&mut self) -> Result<Number> {
        self.deeper(|reader| {
            if reader.take("-").is_some() {
                return reader.signed().map(|value| value.negated());
            }
            if reader.take("+").is_some() {
                return reader.signed();
            }
            reader.power()
        })
    }

    /// A power of a power is read from the right: `2^3^2` is 2^9.
    fn power(&mut self) -> Result<Number> {
        let mut base = self.atom()?;
        while let Some(at) = self.take("!") {
            base = base.factorial().map_err(|why| Wrong::new(at, why))?;
        }
        let Some(at) = self.take("**").or_else(|| self.take("^")) else { return Ok(base) };
        let exponent = self.signed()?;
        base.power(&exponent).map_err(|why| Wrong::new(at, why))
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH_MAX {
            return Err(self.wrong(format!("this is more than {DEPTH_MAX} deep")));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result<Number> {
        match self.peek() {
            Some(b'(') => {
                let at = self.at;
                self.at += 1;
                let value = self.sum()?;
                self.close(at)?;
                Ok(value)
            }
            Some(b'0'..=b'9' | b'.') => self.number(),
            Some(byte) if byte.is_ascii_alphabetic() => self.named(),
            Some(_) | None => Err(self.wrong("a number, a function or ( is missing")),
        }
    }

    fn close(&mut self, opened: usize) -> Result<()> {
        match self.take(")") {
            Some(_) => Ok(()),
            None if self.peek().is_none() => Err(Wrong::new(opened, "there is no ) for this (")),
            None => Err(self.wrong("an operator or ) is missing")),
        }
    }

    fn number(&mut self) -> Result<Number> {
        let start = self.at;
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0o", 8)] {
            if self.text[start..].starts_with(prefix.as_bytes()) {
                self.at += prefix.len();
                let digits = self.digits(|byte| byte.is_ascii_alphanumeric(), start)?;
                return Number::of_radix(&digits, radix).ok_or_else(|| {
                    Wrong::new(start, format!("this is no number of base {radix}"))
                });
            }
        }
        let mut digits = self.digits(u8::is_ascii_digit, start)?;
        let mut exponent = 0;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            let behind = self.digits(u8::is_ascii_digit, start)?;
            exponent = -i64::try_from(behind.len()).unwrap_or(i64::MAX);
            digits.extend(behind);
        }
        if digits.is_empty() {
            return Err(Wrong::new(start, "a point alone is no number"));
        }
        if self.text.get(self.at).is_some_and(|byte| matches!(byte, b'e' | b'E')) {
            exponent += self.exponent()?;
        }
        Number::of_decimal(&digits, exponent).map_err(|why| Wrong::new(start, why))
    }

    /// What stands behind the `e` of a number.
    fn exponent(&mut self) -> Result<i64> {
        let start = self.at;
        self.at += 1;
        let is_negative = self.text.get(self.at) == Some(&b'-');
        if self.text.get(self.at).is_some_and(|byte| matches!(byte, b'+' | b'-')) {
            self.at += 1;
        }
        let digits = self.digits(u8::is_ascii_digit, start)?;
        let text = String::from_utf8(digits).unwrap_or_default();
        let exponent = text.parse::<i64>().ok().filter(|exponent| *exponent <= EXPONENT_MAX);
        let exponent = exponent.ok_or_else(|| {
            Wrong::new(start, format!("an exponent is a whole number up to {EXPONENT_MAX}"))
        })?;
        Ok(if is_negative { -exponent } else { exponent })
    }

    /// Digits, without the underscores between them.
    fn digits(&mut self, is_digit: impl Fn(&u8) -> bool, start: usize) -> Result<Vec<u8>> {
        let mut digits = Vec::new();
        while let Some(byte) =
            self.text.get(self.at).filter(|byte| is_digit(byte) || **byte == b'_')
        {
            digits.extend((*byte != b'_').then_some(*byte));
            self.at += 1;
        }
        match digits.len() > DIGITS_MAX {
            true => Err(Wrong::new(start, format!("a number has at most {DIGITS_MAX} digits"))),
            false => Ok(digits),
        }
    }

    /// A constant, or a function with its arguments.
    fn named(&mut self) -> Result<Number> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_alphanumeric) {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[start..self.at]).to_ascii_lowercase();
        let wrong = |why: String| Wrong::new(start, why);
        match name.as_str() {
            "pi" => return Number::near(std::f64::consts::PI).map_err(wrong),
            "e" => return Number::near(std::f64::consts::E).map_err(wrong),
            _ => {}
        }
        let Some(opened) = self.take("(") else {
            return Err(wrong(format!("`{name}` is neither a constant nor a function with its (")));
        };
        let mut arguments = vec![self.deeper(Self::sum)?];
        while self.take(",").is_some() {
            arguments.push(self.deeper(Self::sum)?);
        }
        self.close(opened)?;
        function(&name, &arguments).map_err(wrong)
    }
}

fn function(name: &str, arguments: &[Number]) -> std::result::Result<Number, String> {
    let (first, rest) = arguments.split_first().ok_or("an argument is missing")?;
    let folded = |take: fn(&Number, &Number) -> std::result::Result<Number, String>| {
        rest.iter().try_fold(first.clone(), |value, next| take(&value, next))
    };
    match name {
        "min" => return folded(|a, b| Ok(if b.is_less(a) { b.clone() } else { a.clone() })),
        "max" => return folded(|a, b| Ok(if a.is_less(b) { b.clone() } else { a.clone() })),
        "gcd" => return folded(Number::common_divisor),
        _ => {}
    }
    let value = match name {
        "abs" if first.is_less(&Number::whole(0)) => Ok(first.negated()),
        "abs" => Ok(first.clone()),
        "floor" => first.map(|exact| exact.floor(), f64::floor),
        "ceil" => first.map(|exact| exact.ceil(), f64::ceil),
        "round" => first.map(|exact| exact.round(), f64::round),
        "sqrt" => first.root(),
        "ln" => first.map_near(f64::ln),
        "log2" => first.map_near(f64::log2),
        "log10" => first.map_near(f64::log10),
        "exp" => first.map_near(f64::exp),
        "sin" => first.map_near(f64::sin),
        "cos" => first.map_near(f64::cos),
        "tan" => first.map_near(f64::tan),
        _ => Err(format!("there is no function `{name}`")),
    }?;
    if rest.is_empty() { Ok(value) } else { Err(format!("`{name}` takes one argument")) }
}

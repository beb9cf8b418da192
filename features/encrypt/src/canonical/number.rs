//! Whole and exact numbers.

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, RoundingMode};
use pando_kernel::Value;
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Aim, Reader};

/// The most digits of a number that are looked at.
const MOST: usize = 200;

/// A type of whole numbers, as [`pando_kernel::DeclaredType::Int`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) octets: u8,
    pub(super) unsigned: bool,
}

impl Reader<'_> {
    pub(super) fn whole(&self, value: &Value, of: Whole) -> Result<String> {
        let Whole { octets, unsigned } = of;
        let kind = match octets {
            1 | 2 => "smallint",
            8 => "bigint",
            _ => "integer",
        };
        let number = self.number(value, kind)?;
        let is_whole = number.is_integer();
        if let Value::Text(text) = value
            && !self.is_mysql
            && text.contains(['.', 'e', 'E'])
        {
            return Err(self.unreadable(kind, text));
        }
        if !is_whole && self.aim == Aim::Compare {
            return Ok(number.normalized().to_plain_string());
        }
        let number = rounded(&number, 0).into_bigint_and_exponent().0;
        let bits = u32::from(octets) * 8;
        let one = BigInt::from(1);
        let (least, beyond) = match unsigned {
            true => (BigInt::from(0), &one << bits),
            false => (-(&one << (bits - 1)), &one << (bits - 1)),
        };
        // PostgreSQL reads a text as the column's type, also to compare it.
        let is_beyond = number < least || number >= beyond;
        if let Value::Text(text) = value
            && is_beyond
            && !self.is_mysql
        {
            let why = format!("value \"{text}\" is out of range for type {kind}");
            return Err(Error::new(ErrorKind::OutOfRange(why)));
        }
        if is_beyond && self.aim != Aim::Compare {
            return Err(self.out_of_range(kind));
        }
        Ok(number.to_string())
    }

    pub(super) fn decimal(&self, value: &Value, digits: u8, scale: u8) -> Result<String> {
        let number = self.number(value, if self.is_mysql { "decimal" } else { "numeric" })?;
        let fitting = rounded(&number, i64::from(scale));
        if self.aim == Aim::Compare && fitting != number {
            return Ok(number.normalized().to_plain_string());
        }
        let whole = rounded_down(&fitting.abs()).into_bigint_and_exponent().0;
        let most = u32::from(digits - scale);
        if self.aim != Aim::Compare && whole >= BigInt::from(10).pow(most) {
            return Err(match self.is_mysql {
                true => self.out_of_range("numeric"),
                false => Error::new(ErrorKind::OutOfRange("numeric field overflow".into())),
            });
        }
        Ok(fitting.to_plain_string())
    }

    fn number(&self, value: &Value, kind: &str) -> Result<BigDecimal> {
        match value {
            Value::Int(number) => Ok((*number).into()),
            Value::UInt(number) => Ok((*number).into()),
            Value::Decimal(number) => Ok(number.clone()),
            Value::Bool(is) if self.is_mysql => Ok(u8::from(*is).into()),
            Value::Text(text) => {
                let is_plain = |one: char| one.is_ascii_digit() || "+-.eE".contains(one);
                let own = text.trim();
                let read = Some(own).filter(|own| own.len() <= MOST && own.chars().all(is_plain));
                match read.and_then(Value::decimal) {
                    Some(Value::Decimal(number)) => Ok(number),
                    Some(_) | None => Err(self.unreadable(kind, text)),
                }
            }
            Value::Float(_) => Err(self.wrong(
                "a floating point number, which stands for no exact one",
                "give it an exact number or a text",
            )),
            Value::Bool(_) | Value::Bytes(_) => {
                Err(self.wrong("something else than a number", "give it a number"))
            }
            Value::Null => Err(Error::internal("NULL is not encrypted")),
        }
    }
}

/// Both families round a half away from zero.
fn rounded(number: &BigDecimal, scale: i64) -> BigDecimal {
    number.with_scale_round(scale, RoundingMode::HalfUp)
}

fn rounded_down(number: &BigDecimal) -> BigDecimal {
    number.with_scale_round(0, RoundingMode::Down)
}

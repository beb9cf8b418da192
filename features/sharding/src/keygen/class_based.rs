//! `CLASS_BASED`: what a function of somebody's own module makes of a number, and of a text, that nobody else has.

use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::feature::Source;
use pando_kernel::module::{Argument, Class, Gives, Own, Takes, Wanted, misgiven};
use pando_kernel::{Modules, Result, Value};

use super::KeyGenerator;
use super::given::{self, failed};
use super::snowflake::Snowflake;
use crate::algorithm::Reader;

const KEY: Wanted<'_> = Wanted {
    name: "next-key",
    takes: &[Takes::Pairs, Takes::Number, Takes::Text],
    gives: Gives::Text,
};

/// The property that says whether keys are numbers.
const KIND: &str = "value-type";

#[derive(Debug)]
struct ClassBased {
    function: Own,
    ids: Snowflake,
    are_numbers: bool,
    makes_long_numbers: bool,
}

pub(super) fn build(
    config: &pando_config::Algorithm,
    modules: &dyn Modules,
) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let function = Class::of(config)?.function(&KEY, modules)?;
    // Properties that it does not know are the function's.
    let ids = Snowflake::read(&mut Reader::new(config))?;
    let are_numbers = match config.props.get(KIND) {
        None => false,
        Some(word) if word.eq_ignore_ascii_case("text") => false,
        Some(word) if word.eq_ignore_ascii_case("number") => true,
        Some(word) => {
            let why =
                format!("property `{KIND}`: expected `text` or `number`, found `{}`", word.value);
            return Err(word.at.problem(why));
        }
    };
    let mut own = ClassBased { function, ids, are_numbers, makes_long_numbers: false };
    let made = given::tried(given::beside(), |parts, uuid| own.made(own.ids.key(parts), uuid));
    own.makes_long_numbers = made.map_err(|why| config.at.problem(why))?;
    Ok(Arc::new(own))
}

impl ClassBased {
    fn made(&self, id: i64, uuid: u128) -> Result<Value> {
        let uuid = format!("{uuid:032x}");
        let id = u64::try_from(id).map_err(|_| failed("CLASS_BASED", "its id is below 0"))?;
        let given = self.function.call(&[Argument::Number(id), Argument::Text(&uuid)])?;
        let text = given.text().ok_or_else(misgiven)?;
        if !self.are_numbers {
            return Ok(Value::Text(text));
        }
        let number = text.parse().map(Value::Int);
        number.map_err(|_| {
            failed("CLASS_BASED", &format!("its key `{text}` is no number of 64 bits"))
        })
    }
}

impl KeyGenerator for ClassBased {
    fn next(&self, source: &dyn Source) -> Result<Value> {
        let mut bytes = [0; 16];
        source.random(&mut bytes);
        self.made(self.ids.number(source)?, u128::from_be_bytes(bytes))
    }

    fn makes_long_numbers(&self) -> bool {
        self.makes_long_numbers
    }
}

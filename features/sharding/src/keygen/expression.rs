//! `EXPRESSION`: what an inline expression makes of a number, or of a text, that nobody else has.
//!
//! Uniqueness is that of what it is given: `id` is a key of `SNOWFLAKE`, made as those are, and `uuid` is random. That the
//! expression keeps them apart is for who writes it; many pairs that are alike are tried when the rule is made.

use std::sync::Arc;

use pando_config::Problem;
use pando_inline::{Datum, Formula, Type, Variable};
use pando_kernel::feature::Source;
use pando_kernel::{Result, Value};

use super::KeyGenerator;
use super::given::{self, failed};
use super::snowflake::{Parts, Snowflake};
use crate::algorithm::Reader;

const VARIABLES: [Variable; 5] = [
    Variable { name: "id", of: Type::Number },
    Variable { name: "uuid", of: Type::Text },
    Variable { name: "millis", of: Type::Number },
    Variable { name: "worker", of: Type::Number },
    Variable { name: "sequence", of: Type::Number },
];
const KIND: &str = "EXPRESSION";
const ID: usize = 0;
const UUID: usize = 1;

#[derive(Debug)]
struct Expression {
    formula: Formula,
    ids: Snowflake,
    makes_long_numbers: bool,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let mut props = Reader::new(config);
    let text = props.text("expression")?;
    let ids = Snowflake::read(&mut props)?;
    props.finish()?;
    let wrong = |why: String| text.at.problem(format!("property `expression`: {why}"));
    let formula = Formula::compile_either(&text.value, &VARIABLES);
    let formula = formula.map_err(|error| wrong(error.to_string()))?;
    let used = formula.used();
    // Of one instance and one millisecond the sequence, of one sequence the others tell keys apart.
    if !(used.contains(&ID) || used.contains(&UUID) || used == [2, 3, 4]) {
        return Err(wrong(
            "its keys cannot be unique: it uses neither `id` nor `uuid` nor `millis`, `worker` and `sequence` together"
                .to_owned(),
        ));
    }
    let mut own = Expression { formula, ids, makes_long_numbers: false };
    let all = given::beside().chain(given::anywhere());
    let made = given::tried(all, |parts, uuid| own.made(parts, uuid));
    own.makes_long_numbers = made.map_err(wrong)?;
    Ok(Arc::new(own))
}

impl Expression {
    fn made(&self, parts: Parts, uuid: u128) -> Result<Value> {
        let values = [
            Datum::int(i128::from(self.ids.key(parts))),
            Datum::text(format!("{uuid:032x}")),
            Datum::int(i128::from(parts.millis)),
            Datum::int(i128::from(parts.worker)),
            Datum::int(i128::from(parts.sequence)),
        ];
        match self.formula.value(&values).map_err(|error| failed(KIND, &error.to_string()))? {
            Datum::Int(number, _) => i64::try_from(number)
                .map(Value::Int)
                .map_err(|_| failed(KIND, &format!("its number {number} has more than 64 bits"))),
            Datum::Text(text) => Ok(Value::Text(text.into_owned())),
            Datum::Null | Datum::Bool(_) | Datum::Decimal(_) | Datum::List(_) => {
                Err(failed(KIND, "its number is not whole"))
            }
        }
    }
}

impl KeyGenerator for Expression {
    fn next(&self, source: &dyn Source) -> Result<Value> {
        let mut bytes = [0; 16];
        if self.formula.used().contains(&UUID) {
            source.random(&mut bytes);
        }
        // Where it stands on `uuid` alone it needs no worker id, which a cluster may have lost.
        let parts = match self.formula.used() {
            [UUID] => Parts { millis: source.now_millis(), worker: 0, sequence: 0 },
            _ => self.ids.parts(self.ids.number(source)?),
        };
        self.made(parts, u128::from_be_bytes(bytes))
    }

    fn makes_long_numbers(&self) -> bool {
        self.makes_long_numbers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[derive(Debug)]
    struct Ticking(AtomicI64);

    impl Source for Ticking {
        fn now_millis(&self) -> i64 {
            1_767_225_600_000 + self.0.fetch_add(1, Ordering::Relaxed) / 50
        }

        fn random(&self, buffer: &mut [u8]) {
            let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            buffer.iter_mut().zip(number.iter().cycle()).for_each(|(to, from)| *to = *from);
        }
    }

    fn made(text: &str) -> Result<Arc<dyn KeyGenerator>, String> {
        let props = [("expression", text), ("worker-id", "7")];
        let config = pando_config::Algorithm::nowhere("EXPRESSION", props);
        build(&config).map_err(|problem| problem.message)
    }

    #[test]
    fn keys_are_what_the_expression_makes_of_an_id_that_is_nobody_elses() {
        for text in [
            "id",
            "-id",
            "'order-' + id.toString()",
            "uuid.substring(0, 8) + '-' + uuid.substring(8)",
            "String.format('%d-%04d-%04d', millis, worker, sequence)",
            "worker.toString() + '/' + id.toString()",
        ] {
            let generator = made(text).unwrap();
            let source = Ticking(AtomicI64::new(0));
            let keys: HashSet<String> =
                (0..3000).map(|_| format!("{:?}", generator.next(&source).unwrap())).collect();
            assert_eq!(keys.len(), 3000, "{text}");
        }
    }

    #[test]
    fn a_key_has_the_parts_of_its_id() {
        let source = Ticking(AtomicI64::new(0));
        let all = made(
            "[id.toString(), millis.toString(), worker.toString(), sequence.toString()].join(' ')",
        );
        let Value::Text(text) = all.unwrap().next(&source).unwrap() else { panic!("no text") };
        let [id, millis, worker, sequence] =
            text.split(' ').map(|part| part.parse::<i64>().unwrap()).collect::<Vec<_>>()[..]
        else {
            panic!("{text}");
        };
        assert_eq!((millis, worker), (1_767_225_600_000, 7));
        assert_eq!(id & 0xfff, sequence);
        assert_eq!(id >> 12 & 0x3ff, worker);
    }

    #[test]
    fn numbers_beyond_32_bits_are_known() {
        assert!(made("id").unwrap().makes_long_numbers());
        assert!(!made("id.toString()").unwrap().makes_long_numbers());
    }

    #[test]
    fn what_cannot_be_unique_is_refused() {
        for (text, why) in [
            ("1", "cannot be unique"),
            ("millis", "cannot be unique"),
            ("millis * 4096 + sequence", "cannot be unique"),
            ("id % 1000000", "two ids have the key"),
            ("id / 4096", "not whole"),
            ("id.intdiv(4096)", "two ids have the key"),
            ("uuid.substring(0, 1)", "two ids have the key"),
            ("millis.toString() + worker.toString() + sequence.toString()", "two ids have the key"),
            ("id * id", "more than 64 bits"),
            ("id > 5", "expected a text or a number, found true or false"),
            ("[id]", "not known to be a text or a number"),
            ("id.toString().substring(0, 30)", "character"),
        ] {
            let found = made(text).err().unwrap_or_else(|| text.to_owned());
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}

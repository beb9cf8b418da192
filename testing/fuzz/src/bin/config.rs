//! Configuration files, JDBC URLs and inline expressions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_config::{File, Url, parse_one};
use pando_inline::{Arithmetic, Datum, Template, expand};

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match first % 3 {
        0 => {
            let file = File { name: "database-fuzz.yaml", text };
            let _ = parse_one(file, &|_: &str| None);
        }
        1 => {
            let _ = Url::parse(text);
        }
        _ => inline(text),
    }
});

fn inline(text: &str) {
    let _ = expand(text);
    let names = ["user_id".to_owned(), "order_id".to_owned()];
    for arithmetic in [Arithmetic::Exact, Arithmetic::Groovy] {
        let Ok(template) = Template::compile(text, &names, arithmetic) else { continue };
        for value in [Datum::int(-7), Datum::text("é1"), Datum::int(i64::MIN.into())] {
            let _ = template.name(&[value.clone(), value]);
        }
    }
}

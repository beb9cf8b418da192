//! Statements as deep as the parser takes them are read without harm.

mod support;

/// The deepest statement of a shape that the parser takes.
fn deepest(family: &str, shape: impl Fn(usize) -> String) -> String {
    let syntax = support::dialect(family);
    let fits = |depth: usize| pando_sql::parse(&shape(depth), syntax.syntax()).is_ok();
    let (mut least, mut most) = (1_usize, 4096_usize);
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if fits(middle) { least = middle } else { most = middle - 1 }
    }
    shape(least)
}

fn check(shape: impl Fn(usize) -> String) {
    for family in ["my", "pg"] {
        let sql = deepest(family, &shape);
        let told = support::told(family, &sql);
        assert!(told.contains("is user.phone"), "{family}: {told}");
    }
}

#[test]
fn parentheses() {
    check(|depth| {
        format!("SELECT id FROM t_user WHERE {}phone{} = 'a'", "(".repeat(depth), ")".repeat(depth))
    });
}

#[test]
fn calls() {
    check(|depth| {
        format!("SELECT {}phone{} FROM t_user", "lower(".repeat(depth), ")".repeat(depth))
    });
}

#[test]
fn subqueries() {
    check(|depth| {
        let open = "SELECT id FROM t_plain WHERE id IN (".repeat(depth);
        format!("{open}SELECT id FROM t_user WHERE phone = 'a'{}", ")".repeat(depth))
    });
}

#[test]
fn derived_tables() {
    check(|depth| {
        let open = "SELECT x FROM (".repeat(depth);
        format!("{open}SELECT phone AS x FROM t_user{}", ") d".repeat(depth))
    });
}

#[test]
fn chains() {
    check(|depth| {
        format!("SELECT id FROM t_user WHERE {}", vec!["phone = 'a'"; depth].join(" OR "))
    });
    check(|depth| format!("SELECT 1 FROM {} WHERE u0.phone = 'a'", joined(depth)));
    check(|depth| vec!["SELECT phone FROM t_user"; depth].join(" UNION "));
}

fn joined(depth: usize) -> String {
    let tables: Vec<String> = (0..depth.min(200)).map(|at| format!("t_user u{at}")).collect();
    tables.join(" CROSS JOIN ")
}

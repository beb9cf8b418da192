//! Names of user variables.

mod common;

use pando_sql::user_variable;

#[test]
fn a_name_is_the_same_in_any_quotes() {
    for (raw, expected) in [
        ("@a", Some("@a")),
        ("@A_1.$", Some("@a_1.$")),
        ("@`a`", Some("@a")),
        ("@`a``'b`", Some("@`a``'b`")),
        ("@'a''b'", Some("@`a'b`")),
        ("@'z\\'w'", Some("@`z'w`")),
        ("@\"x\"\"y\"", Some("@`x\"y`")),
        ("@É", Some("@`é`")),
        ("@``", Some("@``")),
        ("@@a", None),
        ("@", None),
        ("a", None),
    ] {
        assert_eq!(user_variable(raw, &common::COMMAS).as_deref(), expected, "{raw}");
    }
}

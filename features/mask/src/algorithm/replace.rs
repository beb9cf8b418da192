//! Masks that put characters by chance in the place of others: values keep their form.

use pando_config::{Algorithm, Problem};

use super::{Covers, props};

/// A number below another, by chance.
fn below(count: usize) -> usize {
    let mut octets = [0; 8];
    // Where the system has none, all masks are told alike, which hides as much.
    let _ = getrandom::fill(&mut octets);
    let number = u64::from_le_bytes(octets) % (count.max(1) as u64);
    usize::try_from(number).unwrap_or_default()
}

fn one<T>(all: &[T]) -> Option<&T> {
    all.get(below(all.len()))
}

fn digit() -> char {
    one(&['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).copied().unwrap_or('0')
}

/// Digits that are others in these places.
fn other_digits(plain: &str, is_other: impl Fn(usize) -> bool) -> String {
    let turned = plain.chars().enumerate();
    turned
        .map(|(at, own)| if is_other(at) && own.is_ascii_digit() { digit() } else { own })
        .collect()
}

/// `GENERIC_TABLE_RANDOM_REPLACE`: of each sort of characters another one of its list.
#[derive(Debug)]
pub(super) struct Generic {
    upper: Vec<char>,
    lower: Vec<char>,
    digits: Vec<char>,
    special: Vec<char>,
}

impl Generic {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        let names = [
            "uppercase-letter-codes",
            "lowercase-letter-codes",
            "digital-codes",
            "digital-random-codes",
            "special-codes",
        ];
        props::check(algorithm, &names)?;
        let codes = |name: &str, otherwise: &str| -> Result<Vec<char>, Problem> {
            let Some(value) = algorithm.props.get(name) else {
                return Ok(otherwise.chars().collect());
            };
            value
                .value
                .split(',')
                .map(|code| {
                    let mut all = code.trim().chars();
                    match (all.next(), all.next()) {
                        (Some(one), None) => Ok(one),
                        _ => Err(value.at.problem(format!(
                            "`{name}` has single characters with commas between"
                        ))),
                    }
                })
                .collect()
        };
        let digits = match algorithm.props.get("digital-codes") {
            Some(_) => "digital-codes",
            None => "digital-random-codes",
        };
        Ok(Self {
            upper: codes("uppercase-letter-codes", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")?,
            lower: codes("lowercase-letter-codes", "abcdefghijklmnopqrstuvwxyz")?,
            digits: codes(digits, "0123456789")?,
            special: codes("special-codes", "~!@#$%^&*:<>|")?,
        })
    }
}

impl Covers for Generic {
    fn covered(&self, plain: &str) -> String {
        let turned = plain.chars().map(|own| {
            let codes = match own {
                'A'..='Z' => &self.upper,
                'a'..='z' => &self.lower,
                '0'..='9' => &self.digits,
                _ => &self.special,
            };
            one(codes).copied().unwrap_or('*')
        });
        turned.collect()
    }
}

/// `PERSONAL_IDENTITY_NUMBER_RANDOM_REPLACE`: the date of birth in numbers of China; those of others are told as they
/// are, as in ShardingSphere.
#[derive(Debug)]
pub(super) struct Identity {
    is_chinese: bool,
}

impl Identity {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        let name = "alpha-two-country-area-code";
        props::check(algorithm, &[name])?;
        let country = algorithm.props.get(name).map_or("CN", |value| value.as_str());
        Ok(Self { is_chinese: country == "CN" })
    }
}

impl Covers for Identity {
    fn covered(&self, plain: &str) -> String {
        match plain.chars().count() {
            18 if self.is_chinese => other_digits(plain, |at| (6..14).contains(&at)),
            15 if self.is_chinese => other_digits(plain, |at| (6..12).contains(&at)),
            _ => plain.to_owned(),
        }
    }
}

/// `MILITARY_IDENTITY_NUMBER_RANDOM_REPLACE`: another type in front, and other digits.
#[derive(Debug)]
pub(super) struct Military {
    types: Vec<String>,
}

impl Military {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["type-codes"])?;
        Ok(Self { types: props::list(algorithm, "type-codes")? })
    }
}

impl Covers for Military {
    fn covered(&self, plain: &str) -> String {
        let mut rest = plain.chars();
        if rest.next().is_none() {
            return String::new();
        }
        let kind = one(&self.types).and_then(|kind| kind.chars().next()).unwrap_or('*');
        format!("{kind}{}", other_digits(rest.as_str(), |_| true))
    }
}

/// `LANDLINE_NUMBER_RANDOM_REPLACE`, `TELEPHONE_RANDOM_REPLACE`: another of the known beginnings, and digits by
/// chance. A number that has none of them is told as it is, as in ShardingSphere.
#[derive(Debug)]
pub(super) struct Prefixed {
    /// The longest first.
    prefixes: Vec<String>,
}

impl Prefixed {
    pub(super) fn landline(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, "landline-numbers")
    }

    pub(super) fn telephone(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, "network-numbers")
    }

    fn new(algorithm: &Algorithm, name: &str) -> Result<Self, Problem> {
        props::check(algorithm, &[name])?;
        let mut prefixes = props::list(algorithm, name)?;
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
        Ok(Self { prefixes })
    }
}

impl Covers for Prefixed {
    fn covered(&self, plain: &str) -> String {
        let mut known = self.prefixes.iter();
        let Some(rest) = known.find_map(|prefix| plain.strip_prefix(prefix.as_str())) else {
            return plain.to_owned();
        };
        let digits = rest.chars().map(|_| digit()).collect::<String>();
        format!("{}{digits}", one(&self.prefixes).map_or("", String::as_str))
    }
}

/// `UNIFIED_CREDIT_CODE_RANDOM_REPLACE`: a code of China's registers that nobody has, whatever the value was.
#[derive(Debug)]
pub(super) struct Credit {
    departments: Vec<String>,
    categories: Vec<String>,
    divisions: Vec<String>,
}

impl Credit {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        let names =
            ["registration-department-codes", "category-codes", "administrative-division-codes"];
        props::check(algorithm, &names)?;
        let [departments, categories, divisions] = names.map(|name| props::list(algorithm, name));
        Ok(Self { departments: departments?, categories: categories?, divisions: divisions? })
    }
}

impl Covers for Credit {
    fn covered(&self, plain: &str) -> String {
        if plain.is_empty() {
            return String::new();
        }
        let lists = [&self.departments, &self.categories, &self.divisions];
        let front: String = lists.into_iter().filter_map(|list| one(list)).cloned().collect();
        // The organisation's number of nine characters and the check character.
        front + &(0..10).map(|_| digit()).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;

    /// Whether a text has the form: `#` any digit, `A` any capital letter, `a` any small one, the others themselves.
    fn fits(text: &str, form: &str) -> bool {
        let alike = |(own, form): (char, char)| match form {
            '#' => own.is_ascii_digit(),
            'A' => own.is_ascii_uppercase(),
            'a' => own.is_ascii_lowercase(),
            _ => own == form,
        };
        text.chars().count() == form.chars().count() && text.chars().zip(form.chars()).all(alike)
    }

    fn check(kind: &str, props: &[(&str, &str)], plain: &str, form: &str) {
        let mask = made(kind, props);
        let told: Vec<String> = (0..40).map(|_| mask.masked(plain).unwrap()).collect();
        assert!(told.iter().all(|told| fits(told, form)), "{kind} {plain}: {told:?}");
        let is_by_chance = form.contains(['#', 'A', 'a']);
        assert_eq!(told.iter().any(|other| *other != told[0]), is_by_chance, "{kind} {plain}");
    }

    #[test]
    fn values_keep_their_form() {
        check("GENERIC_TABLE_RANDOM_REPLACE", &[("special-codes", "$")], "Ab1-北", "Aa#$$");
        let identity = "PERSONAL_IDENTITY_NUMBER_RANDOM_REPLACE";
        check(identity, &[], "11010120030925001X", "110101########001X");
        check(identity, &[], "110101030925001", "110101######001");
        check(
            identity,
            &[("alpha-two-country-area-code", "JP")],
            "110101030925001",
            "110101030925001",
        );
        let military = [("type-codes", "军,军")];
        check("MILITARY_IDENTITY_NUMBER_RANDOM_REPLACE", &military, "沈字第123号", "军字第###号");
        let networks = [("network-numbers", "130,130")];
        check("TELEPHONE_RANDOM_REPLACE", &networks, "13012345678", "130########");
        check("TELEPHONE_RANDOM_REPLACE", &networks, "15512345678", "15512345678");
        let areas = [("landline-numbers", "0751")];
        check("LANDLINE_NUMBER_RANDOM_REPLACE", &areas, "0751123", "0751###");
        let codes = [
            ("registration-department-codes", "1"),
            ("category-codes", "2"),
            ("administrative-division-codes", "110000"),
        ];
        check("UNIFIED_CREDIT_CODE_RANDOM_REPLACE", &codes, "x", "12110000##########");
        check("UNIFIED_CREDIT_CODE_RANDOM_REPLACE", &codes, "", "");
    }
}

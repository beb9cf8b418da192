//! Dates by Java's patterns, and steps from one date to the next.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span};

/// A date pattern as `yyyy-MM-dd HH:mm:ss`, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Item>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Literal(char),
    Field(Field, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Year,
    Quarter,
    Month,
    Day,
    DayOfYear,
    Hour,
    Minute,
    Second,
    Fraction,
}

/// A date read from the front of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The date; fields the pattern or the text lacks are at their least.
    pub date: DateTime,
    /// Whether the text went on with anything but zeros.
    pub is_cut: bool,
}

impl Pattern {
    /// Compiles a pattern.
    pub fn parse(text: &str) -> Result<Self, String> {
        const LONGEST: usize = 100;
        if text.len() > LONGEST {
            return Err(format!("date pattern is longer than {LONGEST} bytes"));
        }
        let mut items = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                quoted(&mut chars, &mut items, text)?;
            } else if c.is_ascii_alphabetic() {
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                items.push(Item::Field(field(c, count, text)?, count));
            } else if matches!(c, '[' | ']' | '{' | '}' | '#') {
                return Err(format!("`{c}` in date pattern `{text}` is not supported"));
            } else {
                items.push(Item::Literal(c));
            }
        }
        Ok(Self(items))
    }

    /// Whether a written date tells its year in full.
    pub fn has_full_year(&self) -> bool {
        self.0.iter().any(|item| matches!(item, Item::Field(Field::Year, count) if *count != 2))
    }

    /// The date in this form.
    pub fn write(&self, date: DateTime) -> String {
        let mut out = String::new();
        for item in &self.0 {
            match item {
                Item::Literal(c) => out.push(*c),
                Item::Field(Field::Fraction, count) => {
                    let digits = format!("{:09}", date.subsec_nanosecond());
                    out.extend(digits.chars().chain(std::iter::repeat('0')).take(*count));
                }
                Item::Field(Field::Year, 2) => {
                    out.push_str(&format!("{:02}", date.year().rem_euclid(100)));
                }
                Item::Field(field, count) => {
                    let width = *count;
                    out.push_str(&format!("{:0width$}", number(*field, date)));
                }
            }
        }
        out
    }

    /// The lengths a written date can have.
    pub fn widths(&self) -> (usize, usize) {
        let widths = self.0.iter().map(|item| match item {
            Item::Literal(_) => (1, 1),
            Item::Field(Field::Year, 1) => (1, 4),
            Item::Field(
                Field::Month | Field::Day | Field::Hour | Field::Minute | Field::Second,
                1,
            ) => (1, 2),
            Item::Field(Field::DayOfYear, count) => (*count, (*count).max(3)),
            Item::Field(_, count) => (*count, *count),
        });
        widths.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The date at the front of a text: more of it is left out, less of it takes the front of the pattern.
    pub fn read(&self, text: &str) -> Result<Read, String> {
        let expected = || format!("`{text}` is not a date of the configured pattern");
        let chars: Vec<char> = text.trim().chars().take(100).collect();
        let mut parts = Parts::default();
        let mut rest = chars.as_slice();
        for (i, item) in self.0.iter().enumerate() {
            if rest.is_empty() && i > 0 {
                break;
            }
            rest = self.read_item(i, item, rest, &mut parts).ok_or_else(expected)?;
        }
        let ended_in_time = matches!(
            self.0.last(),
            Some(Item::Field(Field::Hour | Field::Minute | Field::Second | Field::Fraction, _))
        );
        let time = if ended_in_time { Some(0) } else { rest.iter().position(|c| *c == ':') };
        if has_zone(rest, time) {
            return Err(format!("`{text}` has a time zone; a date is routed without one"));
        }
        let date = parts.date().ok_or_else(expected)?;
        let is_cut = rest.iter().any(|c| !matches!(c, '0' | ':' | '.' | ' ' | 'T' | '-'));
        Ok(Read { date, is_cut })
    }

    /// The date of a text that must be of the pattern from end to end.
    pub fn read_whole(&self, text: &str) -> Result<DateTime, String> {
        let expected = || format!("`{text}` is not a date of the configured pattern");
        let chars: Vec<char> = text.chars().take(101).collect();
        let mut parts = Parts::default();
        let mut rest = chars.as_slice();
        for (i, item) in self.0.iter().enumerate() {
            rest = self.read_item(i, item, rest, &mut parts).ok_or_else(expected)?;
        }
        if rest.is_empty() { parts.date().ok_or_else(expected) } else { Err(expected()) }
    }

    fn read_item<'c>(
        &self,
        i: usize,
        item: &Item,
        rest: &'c [char],
        parts: &mut Parts,
    ) -> Option<&'c [char]> {
        let (field, count) = match item {
            Item::Literal(c) => {
                let first = *rest.first()?;
                // Both vendors write and read either between date and time.
                let same =
                    first == *c || (*c == ' ' && first == 'T') || (*c == 'T' && first == ' ');
                return same.then_some(&rest[1..]);
            }
            Item::Field(field, count) => (*field, *count),
        };
        let next_is_field = matches!(self.0.get(i + 1), Some(Item::Field(..)));
        let most = match (field, count) {
            (Field::Year, 1) if !next_is_field => 4,
            (Field::DayOfYear, _) if !next_is_field => 3,
            (_, 1) if !next_is_field => 2,
            (_, count) => count,
        };
        let digits = rest.iter().take(most).take_while(|c| c.is_ascii_digit()).count();
        if digits < count.min(most) || digits == 0 {
            return None;
        }
        let text: String = rest[..digits].iter().collect();
        parts.set(field, count, &text)?;
        Some(&rest[digits..])
    }
}

fn quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    items: &mut Vec<Item>,
    text: &str,
) -> Result<(), String> {
    let mut is_empty = true;
    loop {
        match chars.next() {
            Some('\'') if chars.next_if_eq(&'\'').is_some() => items.push(Item::Literal('\'')),
            Some('\'') => break,
            Some(c) => items.push(Item::Literal(c)),
            None => return Err(format!("a quote in date pattern `{text}` is not closed")),
        }
        is_empty = false;
    }
    if is_empty {
        items.push(Item::Literal('\''));
    }
    Ok(())
}

fn field(letter: char, count: usize, text: &str) -> Result<Field, String> {
    let (field, most) = match letter {
        'y' | 'u' => (Field::Year, 4),
        'Q' | 'q' => (Field::Quarter, 2),
        'M' | 'L' => (Field::Month, 2),
        'd' => (Field::Day, 2),
        'D' => (Field::DayOfYear, 3),
        'H' => (Field::Hour, 2),
        'm' => (Field::Minute, 2),
        's' => (Field::Second, 2),
        'S' => (Field::Fraction, 9),
        other => {
            return Err(format!(
                "letter `{other}` in date pattern `{text}` is not supported \
                 (known: y, u, Q, M, d, D, H, m, s, S)"
            ));
        }
    };
    if count > most || (field == Field::Year && count == 3) {
        return Err(format!("{count} times `{letter}` in date pattern `{text}` is not supported"));
    }
    Ok(field)
}

fn number(field: Field, date: DateTime) -> i32 {
    match field {
        Field::Year => i32::from(date.year()),
        Field::Quarter => i32::from((date.month() - 1) / 3 + 1),
        Field::Month => i32::from(date.month()),
        Field::Day => i32::from(date.day()),
        Field::DayOfYear => i32::from(date.date().day_of_year()),
        Field::Hour => i32::from(date.hour()),
        Field::Minute => i32::from(date.minute()),
        Field::Second => i32::from(date.second()),
        Field::Fraction => date.subsec_nanosecond(),
    }
}

/// Whether what follows the read part names a time zone: `Z`, `+02`, or `-05` behind a time, which is seen at a place in it.
fn has_zone(rest: &[char], time: Option<usize>) -> bool {
    rest.iter().any(|c| matches!(c, '+' | 'Z' | 'z'))
        || time.is_some_and(|at| rest[at..].contains(&'-'))
}

#[derive(Debug, Clone, Copy)]
struct Parts {
    year: i16,
    month: i8,
    day: i8,
    day_of_year: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
}

/// A pattern without a year counts within one leap year, so that every day of any year has its place.
impl Default for Parts {
    fn default() -> Self {
        Self {
            year: 2000,
            month: 1,
            day: 1,
            day_of_year: None,
            hour: 0,
            minute: 0,
            second: 0,
            nanosecond: 0,
        }
    }
}

impl Parts {
    fn set(&mut self, field: Field, count: usize, digits: &str) -> Option<()> {
        let number: i32 = digits.parse().ok()?;
        let small = || i8::try_from(number).ok();
        match field {
            Field::Year if count == 2 => self.year = 2000 + i16::try_from(number).ok()?,
            Field::Year => self.year = i16::try_from(number).ok()?,
            Field::Quarter if (1..=4).contains(&number) => self.month = (small()? - 1) * 3 + 1,
            Field::Quarter => return None,
            Field::Month => self.month = small()?,
            Field::Day => self.day = small()?,
            Field::DayOfYear => self.day_of_year = i16::try_from(number).ok(),
            Field::Hour => self.hour = small()?,
            Field::Minute => self.minute = small()?,
            Field::Second => self.second = small()?,
            Field::Fraction => {
                let places = u32::try_from(digits.len()).ok()?;
                self.nanosecond = number.checked_mul(10_i32.pow(9_u32.checked_sub(places)?))?;
            }
        }
        Some(())
    }

    fn date(self) -> Option<DateTime> {
        let date = match self.day_of_year {
            Some(day) if day >= 1 => {
                let first = Date::new(self.year, 1, 1).ok()?;
                let date = first.checked_add(Span::new().days(i64::from(day) - 1)).ok()?;
                (date.year() == self.year).then_some(date)?
            }
            Some(_) => return None,
            None => Date::new(self.year, self.month, self.day).ok()?,
        };
        let time = Time::new(self.hour, self.minute, self.second, self.nanosecond).ok()?;
        Some(DateTime::from_parts(date, time))
    }
}

/// A unit of time, by the names of Java's `ChronoUnit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Always so many nanoseconds.
    Fixed(i64),
    /// So many months.
    Months(i64),
}

impl Unit {
    /// One day of 24 hours.
    pub const DAYS: Self = Self::Fixed(86_400_000_000_000);

    /// The unit of that name, case ignored.
    pub fn named(name: &str) -> Option<Self> {
        const SECOND: i64 = 1_000_000_000;
        match name.to_ascii_lowercase().as_str() {
            "nanos" => Some(Self::Fixed(1)),
            "micros" => Some(Self::Fixed(1_000)),
            "millis" => Some(Self::Fixed(1_000_000)),
            "seconds" => Some(Self::Fixed(SECOND)),
            "minutes" => Some(Self::Fixed(60 * SECOND)),
            "hours" => Some(Self::Fixed(3_600 * SECOND)),
            "halfdays" | "half_days" => Some(Self::Fixed(43_200 * SECOND)),
            "days" => Some(Self::DAYS),
            "weeks" => Some(Self::Fixed(7 * 86_400 * SECOND)),
            "months" => Some(Self::Months(1)),
            "years" => Some(Self::Months(12)),
            "decades" => Some(Self::Months(120)),
            "centuries" => Some(Self::Months(1_200)),
            _ => None,
        }
    }
}

/// Dates at even distances, from a first one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    lower: DateTime,
    amount: i64,
    unit: Unit,
}

impl Steps {
    /// Steps of `amount` units from `lower` on.
    pub fn new(lower: DateTime, amount: u32, unit: Unit) -> Self {
        Self { lower, amount: i64::from(amount), unit }
    }

    /// The start of step `index`; none beyond the year 9999.
    pub fn at(&self, index: u64) -> Option<DateTime> {
        let index = i64::try_from(index).ok()?;
        match self.unit {
            Unit::Fixed(nanoseconds) => {
                let nanoseconds =
                    i128::from(nanoseconds) * i128::from(self.amount) * i128::from(index);
                let seconds = i64::try_from(nanoseconds / 1_000_000_000).ok()?;
                let rest = i32::try_from(nanoseconds % 1_000_000_000).ok()?;
                self.lower.checked_add(SignedDuration::new(seconds, rest)).ok()
            }
            Unit::Months(months) => {
                let months = months.checked_mul(self.amount)?;
                let first = first_of_month(self.lower, months.checked_mul(index)?)?;
                let day = self.day(months, index)?.min(first.days_in_month());
                let date = Date::new(first.year(), first.month(), day).ok()?;
                Some(DateTime::from_parts(date, self.lower.time()))
            }
        }
    }

    /// Which step a date is in; none before the first.
    pub fn index(&self, date: DateTime) -> Option<u64> {
        if date < self.lower {
            return None;
        }
        match self.unit {
            Unit::Fixed(nanoseconds) => {
                let passed = date.duration_since(self.lower).as_nanos();
                let step = i128::from(nanoseconds) * i128::from(self.amount);
                u64::try_from(passed / step).ok()
            }
            Unit::Months(months) => {
                let month = |date: DateTime| i64::from(date.year()) * 12 + i64::from(date.month());
                let step = months.checked_mul(self.amount)?;
                let guess = u64::try_from((month(date) - month(self.lower)) / step).ok()?;
                let starts_after = self.at(guess).is_none_or(|start| start > date);
                if starts_after { guess.checked_sub(1) } else { Some(guess) }
            }
        }
    }

    /// The day of the month step `index` starts on. ShardingSphere adds step by step, so a day lost in a short month stays lost.
    fn day(&self, months: i64, index: i64) -> Option<i8> {
        let mut day = self.lower.day();
        let mut passed = 0;
        for step in 1..=index {
            if day <= 28 {
                break;
            }
            passed += months;
            if passed > 120_000 {
                return None;
            }
            day = day.min(first_of_month(self.lower, months * step)?.days_in_month());
        }
        Some(day)
    }
}

/// The first day of the month so many months later.
fn first_of_month(from: DateTime, months: i64) -> Option<Date> {
    let month = i64::from(from.year()) * 12 + i64::from(from.month()) - 1 + months;
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    Date::new(year, i8::try_from(month.rem_euclid(12)).ok()? + 1, 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).expect(text)
    }

    fn date(text: &str) -> DateTime {
        text.parse().expect(text)
    }

    #[test]
    fn dates_are_written_and_read_back() {
        let moment = date("2024-02-09 03:04:05.067");
        for (form, expected) in [
            ("yyyy-MM-dd HH:mm:ss", "2024-02-09 03:04:05"),
            ("yyyyMMdd", "20240209"),
            ("yyyy_M", "2024_2"),
            ("yy'T'Q", "24T1"),
            ("uuuuDDD", "2024040"),
            ("HHmmssSSS", "030405067"),
            ("'it''s'dd", "it's09"),
        ] {
            let written = pattern(form).write(moment);
            assert_eq!(written, expected);
            let read = pattern(form).read_whole(&written).expect(form);
            assert_eq!(pattern(form).write(read), expected);
        }
    }

    #[test]
    fn a_longer_text_is_cut_and_a_shorter_one_takes_the_front() {
        let form = pattern("yyyy-MM-dd HH:mm:ss");
        let read = |text: &str| form.read(text);
        let exact = read("2024-02-09 03:04:05").expect("exact");
        assert!(!exact.is_cut);
        assert_eq!(read("2024-02-09T03:04:05.500").expect("longer").date, exact.date);
        assert!(read("2024-02-09 03:04:05.500").expect("longer").is_cut);
        assert!(!read("2024-02-09 03:04:05.000").expect("zeros").is_cut);
        assert_eq!(read("2024-02-09").expect("shorter").date, date("2024-02-09 00:00:00"));
        for wrong in ["", "x", "2024-2-9", "2024-13-01", "2024-02-30", "2024-02-09 03:04:05Z"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("2024-02-09 03:04:05.1+02").is_err());
        assert!(read("2024-02-09 03:04:05-05:00").is_err());
        assert!(pattern("yyyy-MM").read("2024-02-09 03:04:05").expect("cut").is_cut);
    }

    #[test]
    fn patterns_that_cannot_be_are_refused() {
        for text in ["EEE", "yyyyy", "yyy", "MMM", "'open", "[yyyy]", "hh"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_step_holds_the_dates_from_its_start_to_the_next() {
        for (lower, amount, unit) in [
            ("2024-01-01 00:00:00", 1, "MONTHS"),
            ("2024-01-31 12:00:00", 1, "Months"),
            ("2024-01-31 12:00:00", 5, "MONTHS"),
            ("2024-02-29 00:00:00", 1, "YEARS"),
            ("2024-01-01 00:00:00", 10, "DAYS"),
            ("2024-01-01 00:30:00", 7, "HOURS"),
        ] {
            let steps = Steps::new(date(lower), amount, Unit::named(unit).expect(unit));
            for index in 0..100 {
                let (start, next) =
                    (steps.at(index).expect("start"), steps.at(index + 1).expect("next"));
                assert!(start < next);
                assert_eq!(steps.index(start), Some(index), "{lower} {unit} {index}");
                let last = next.checked_sub(SignedDuration::from_nanos(1)).expect("last");
                assert_eq!(steps.index(last), Some(index), "{lower} {unit} {index}");
            }
            assert_eq!(steps.index(date("2023-12-31 23:59:59")), None);
        }
    }

    #[test]
    fn a_day_lost_in_a_short_month_stays_lost() {
        let steps = Steps::new(date("2023-01-31 00:00:00"), 1, Unit::Months(1));
        assert_eq!(steps.at(1), Some(date("2023-02-28 00:00:00")));
        assert_eq!(steps.at(2), Some(date("2023-03-28 00:00:00")));
        assert_eq!(steps.at(200_000), None);
    }
}

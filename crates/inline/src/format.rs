//! `String.format`: the conversions table names need.

use crate::datum::Datum;
use crate::operate::Failure;

/// The pattern with its `%` filled by the arguments in turn.
pub(crate) fn format(pattern: &str, arguments: &[Datum<'_>]) -> Result<String, Failure> {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut left = false;
        let mut zero = false;
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0')) {
            left |= flag == '-';
            zero |= flag == '0';
        }
        let mut width = 0_usize;
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            width = width * 10 + digit.to_digit(10).unwrap_or_default() as usize;
            if width > 1000 {
                return Err("a width of `%` is at most 1000".into());
            }
        }
        let conversion = chars.next().ok_or("pattern ends after `%`")?;
        if conversion == '%' {
            out.push('%');
            continue;
        }
        let argument = arguments.next().ok_or("pattern has more `%` than there are values")?;
        let text = converted(conversion, argument)?;
        let fill = match (left, zero && conversion != 's') {
            (true, _) => Fill::Behind,
            (false, true) => Fill::Zeros,
            (false, false) => Fill::Before,
        };
        out.push_str(&filled(&text, width, fill));
    }
    Ok(out)
}

fn converted(conversion: char, value: &Datum<'_>) -> Result<String, Failure> {
    if conversion == 's' {
        let text = value.to_text().ok_or_else(|| format!("{} is no text", value.describe()))?;
        return Ok(text.into_owned());
    }
    let Some(Datum::Int(number, _)) = value.to_number() else {
        return Err(format!("`%{conversion}` needs a whole number, found {}", value.describe()));
    };
    match conversion {
        'd' => Ok(number.to_string()),
        'x' if number >= 0 => Ok(format!("{number:x}")),
        'X' if number >= 0 => Ok(format!("{number:X}")),
        'o' if number >= 0 => Ok(format!("{number:o}")),
        'x' | 'X' | 'o' => Err(format!("`%{conversion}` needs a number of 0 or more")),
        other => Err(format!("conversion `%{other}` is not supported")),
    }
}

/// What a text that is too short gets.
#[derive(Debug, Clone, Copy)]
enum Fill {
    /// Blanks in front.
    Before,
    /// Blanks at its end.
    Behind,
    /// Zeros, behind its sign.
    Zeros,
}

fn filled(text: &str, width: usize, fill: Fill) -> String {
    let missing = width.saturating_sub(text.chars().count());
    match fill {
        Fill::Before => format!("{}{text}", " ".repeat(missing)),
        Fill::Behind => format!("{text}{}", " ".repeat(missing)),
        Fill::Zeros => {
            let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
            format!("{sign}{}{digits}", "0".repeat(missing))
        }
    }
}

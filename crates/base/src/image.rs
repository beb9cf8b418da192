//! What a statement did to the rows of one table.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::undo::Form;

/// A row's values in their forms, in the order of [`Shape::columns`]; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// What of a table its images must know to be restored by anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The table as statements write it, schema included where there is one.
    pub path: String,
    /// Every column that can be written, in table order.
    pub columns: Vec<ShapeColumn>,
    /// Places of the primary key's columns among them; never empty.
    pub key: Vec<usize>,
}

/// A column of a [`Shape`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeColumn {
    /// Its name, not quoted.
    pub name: String,
    /// How its values travel.
    pub form: Form,
    /// Every UPDATE sets it to the current time unless it says otherwise.
    pub stamped: bool,
}

/// What became of one row. Never without both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The row as it was; `None` when it was inserted.
    pub before: Option<Row>,
    /// The row as it is now; `None` when it was deleted.
    pub after: Option<Row>,
}

/// The changes of one statement, or a part of them, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The table.
    pub shape: Shape,
    /// Its changed rows.
    pub changes: Vec<Change>,
}

impl Shape {
    /// The key of a row; a primary key holds no NULL.
    pub(crate) fn key_of<'a>(&self, row: &'a Row) -> Vec<&'a str> {
        let field = |at: &usize| row.get(*at).and_then(Option::as_deref).unwrap_or_default();
        self.key.iter().map(field).collect()
    }

    /// Refuses a row of another width.
    pub(crate) fn fits(&self, row: &Row) -> Result<()> {
        if row.len() == self.columns.len() {
            Ok(())
        } else {
            Err(Error::internal(format!(
                "an image of `{}` has {} values for {} columns",
                self.path,
                row.len(),
                self.columns.len()
            )))
        }
    }
}

impl Image {
    /// As text. [`Image::decode`] gives the same image.
    pub fn encode(&self) -> String {
        let mut out = Writer { text: String::from("1;") };
        out.string(&self.shape.path);
        out.number(self.shape.columns.len());
        for column in &self.shape.columns {
            out.string(&column.name);
            out.text.push(column.form.letter());
            out.text.push(if column.stamped { 's' } else { '-' });
        }
        out.number(self.shape.key.len());
        self.shape.key.iter().for_each(|at| out.number(*at));
        out.number(self.changes.len());
        for change in &self.changes {
            match (&change.before, &change.after) {
                (Some(before), Some(after)) => {
                    out.text.push('u');
                    before.iter().for_each(|field| out.field(field.as_deref()));
                    for (old, new) in before.iter().zip(after) {
                        if old == new { out.text.push('=') } else { out.field(new.as_deref()) }
                    }
                }
                (Some(row), None) => out.row('b', row),
                (None, Some(row)) => out.row('a', row),
                (None, None) => out.text.push('-'),
            }
        }
        out.text
    }

    /// Reads an image's text.
    ///
    /// # Errors
    /// `Value` when it is none, or of a version that this Pando does not know.
    pub fn decode(text: &str) -> Result<Self> {
        let mut reader = Reader { rest: text };
        if reader.number()? != 1 {
            return Err(wrong("an image of an unknown version"));
        }
        let path = reader.string()?;
        let width = reader.count()?;
        let mut columns = Vec::new();
        for _ in 0..width {
            let name = reader.string()?;
            let form = Form::of_letter(reader.letter()?).ok_or_else(|| wrong("an unknown form"))?;
            columns.push(ShapeColumn { name, form, stamped: reader.letter()? == 's' });
        }
        let mut key = Vec::new();
        for _ in 0..reader.count()? {
            key.push(reader.number()?);
        }
        if key.is_empty() || key.iter().any(|at| *at >= columns.len()) {
            return Err(wrong("an image without a key"));
        }
        let shape = Shape { path, columns, key };
        let mut changes = Vec::new();
        for _ in 0..reader.count()? {
            changes.push(reader.change(width)?);
        }
        if !reader.rest.is_empty() {
            return Err(wrong("an image with more behind it"));
        }
        Ok(Self { shape, changes })
    }
}

struct Writer {
    text: String,
}

impl Writer {
    fn number(&mut self, number: usize) {
        self.text.push_str(&number.to_string());
        self.text.push(';');
    }

    fn string(&mut self, text: &str) {
        self.text.push_str(&text.len().to_string());
        self.text.push(':');
        self.text.push_str(text);
    }

    fn field(&mut self, field: Option<&str>) {
        match field {
            Some(text) => self.string(text),
            None => self.text.push('~'),
        }
    }

    fn row(&mut self, letter: char, row: &Row) {
        self.text.push(letter);
        row.iter().for_each(|field| self.field(field.as_deref()));
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn letter(&mut self) -> Result<char> {
        let letter = self.rest.chars().next().ok_or_else(|| wrong("an image that breaks off"))?;
        self.rest = &self.rest[letter.len_utf8()..];
        Ok(letter)
    }

    fn digits(&mut self, end: char) -> Result<usize> {
        let (digits, rest) =
            self.rest.split_once(end).ok_or_else(|| wrong("an image that breaks off"))?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number);
        self.rest = rest;
        number.ok_or_else(|| wrong("an image with a wrong number"))
    }

    fn number(&mut self) -> Result<usize> {
        self.digits(';')
    }

    /// How many things follow; each takes a byte or more.
    fn count(&mut self) -> Result<usize> {
        let count = self.number()?;
        if count > self.rest.len() {
            return Err(wrong("an image that breaks off"));
        }
        Ok(count)
    }

    fn string(&mut self) -> Result<String> {
        let length = self.digits(':')?;
        let short = || wrong("an image that breaks off");
        let text = self.rest.get(..length).ok_or_else(short)?.to_owned();
        self.rest = self.rest.get(length..).ok_or_else(short)?;
        Ok(text)
    }

    fn field(&mut self) -> Result<Option<String>> {
        if let Some(rest) = self.rest.strip_prefix('~') {
            self.rest = rest;
            return Ok(None);
        }
        self.string().map(Some)
    }

    fn row(&mut self, width: usize) -> Result<Row> {
        (0..width).map(|_| self.field()).collect()
    }

    fn change(&mut self, width: usize) -> Result<Change> {
        match self.letter()? {
            'b' => Ok(Change { before: Some(self.row(width)?), after: None }),
            'a' => Ok(Change { before: None, after: Some(self.row(width)?) }),
            'u' => {
                let before = self.row(width)?;
                let mut after = Row::with_capacity(width);
                for old in &before {
                    if let Some(rest) = self.rest.strip_prefix('=') {
                        self.rest = rest;
                        after.push(old.clone());
                    } else {
                        after.push(self.field()?);
                    }
                }
                Ok(Change { before: Some(before), after: Some(after) })
            }
            '-' => Ok(Change { before: None, after: None }),
            _ => Err(wrong("an image with an unknown change")),
        }
    }
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Value(format!("the undo log holds {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(width: usize) -> impl Strategy<Value = Row> {
        prop::collection::vec(prop::option::of(".{0,12}"), width..=width)
    }

    fn image() -> impl Strategy<Value = Image> {
        (1usize..5).prop_flat_map(|width| {
            let change = (prop::option::of(row(width)), prop::option::of(row(width)))
                .prop_map(|(before, after)| Change { before, after });
            let forms = prop::sample::select(vec![Form::Plain, Form::Octets, Form::Moment]);
            let column = (".{0,8}", forms, any::<bool>())
                .prop_map(|(name, form, stamped)| ShapeColumn { name, form, stamped });
            let columns = prop::collection::vec(column, width..=width);
            let key = prop::collection::vec(0..width, 1..=width);
            let changes = prop::collection::vec(change, 0..4);
            (".{0,8}", columns, key, changes).prop_map(|(path, columns, key, changes)| Image {
                shape: Shape { path, columns, key },
                changes,
            })
        })
    }

    proptest! {
        #[test]
        fn an_image_survives_its_text(image in image()) {
            prop_assert_eq!(Image::decode(&image.encode()).unwrap(), image);
        }

        #[test]
        fn a_damaged_image_is_an_error_or_another_image(image in image(), at in any::<prop::sample::Index>(), with in "[0-9:;~=bau]{0,3}") {
            let text = image.encode();
            let place = at.index(text.len() + 1);
            if text.is_char_boundary(place) {
                prop_assert!(Image::decode(&text[..place]).is_err() || place == text.len());
                let damaged = format!("{}{with}{}", &text[..place], &text[place..]);
                drop(Image::decode(&damaged));
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9:;~=bau-]{0,40}") {
            drop(Image::decode(&text));
        }
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        for text in
            ["", "2;", "1;9999999999999999999999:", "1;1:t4294967295;", "1;1:t99;", "1;1:té"]
        {
            assert!(Image::decode(text).is_err(), "{text}");
        }
    }
}

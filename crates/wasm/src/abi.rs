//! The canonical ABI of the few types that functions take and give: flat numbers on their way in, a place in memory on their
//! way out.

use pando_kernel::module::{Argument, Given, Gives, Takes};
use wasmtime::{AsContextMut, Memory, TypedFunc, Val, ValType};

/// The most bytes that a function gives.
const MOST_BYTES: usize = 1 << 20;

/// The most texts that a function gives.
const MOST_TEXTS: usize = 10_000;

/// Bytes of a pointer with a length, as a text or a list has in memory.
const PAIR: usize = 8;

/// The flat numbers of what a function is given, in order.
pub(crate) fn flat(takes: &[Takes]) -> Vec<ValType> {
    let mut all = Vec::new();
    for one in takes {
        match one {
            Takes::Text | Takes::Texts | Takes::Pairs => all.extend([ValType::I32, ValType::I32]),
            Takes::Perhaps => all.extend([ValType::I32, ValType::I32, ValType::I32]),
            Takes::Number => all.push(ValType::I64),
            Takes::Bool => all.push(ValType::I32),
        }
    }
    all
}

/// Where a call's arguments go and its answer comes from.
pub(crate) struct Guest {
    pub(crate) memory: Memory,
    /// `cabi_realloc`: old place, old size, alignment, new size.
    pub(crate) realloc: TypedFunc<(u32, u32, u32, u32), u32>,
}

impl Guest {
    /// Puts the arguments into the module's memory; gives the flat numbers that lead to them.
    pub(crate) fn lower(
        &self,
        mut store: impl AsContextMut,
        arguments: &[Argument<'_>],
    ) -> wasmtime::Result<Vec<Val>> {
        let mut all = Vec::with_capacity(16);
        for one in arguments {
            match one {
                Argument::Text(text) => all.extend(self.text(&mut store, text)?.flat()),
                Argument::Perhaps(None) => all.extend([Val::I32(0), Val::I32(0), Val::I32(0)]),
                Argument::Perhaps(Some(text)) => {
                    all.push(Val::I32(1));
                    all.extend(self.text(&mut store, text)?.flat());
                }
                Argument::Texts(texts) => {
                    let list = self.texts(&mut store, texts.iter().copied(), texts.len())?;
                    all.extend(list.flat());
                }
                Argument::Pairs(pairs) => {
                    let texts = pairs.iter().flat_map(|(key, value)| [key.as_str(), value]);
                    let list = self.texts(&mut store, texts, pairs.len() * 2)?;
                    all.extend(Part { length: length(pairs.len())?, ..list }.flat());
                }
                Argument::Number(number) => all.push(Val::I64(number.cast_signed())),
                Argument::Bool(flag) => all.push(Val::I32(i32::from(*flag))),
            }
        }
        Ok(all)
    }

    fn room(&self, store: impl AsContextMut, size: usize, align: u32) -> wasmtime::Result<u32> {
        self.realloc.call(store, (0, 0, align, length(size)?))
    }

    fn text(&self, mut store: impl AsContextMut, text: &str) -> wasmtime::Result<Part> {
        let at = self.room(&mut store, text.len(), 1)?;
        self.memory.write(&mut store, at as usize, text.as_bytes())?;
        Ok(Part { at, length: length(text.len())? })
    }

    /// Texts in a row, each as a pointer with a length.
    fn texts<'t>(
        &self,
        mut store: impl AsContextMut,
        texts: impl Iterator<Item = &'t str>,
        count: usize,
    ) -> wasmtime::Result<Part> {
        let list = self.room(&mut store, count * PAIR, 4)?;
        let mut entries = Vec::with_capacity(count * PAIR);
        for text in texts {
            let part = self.text(&mut store, text)?;
            entries.extend(part.at.to_le_bytes());
            entries.extend(part.length.to_le_bytes());
        }
        self.memory.write(&mut store, list as usize, &entries)?;
        Ok(Part { at: list, length: length(count)? })
    }

    /// What stands at a place of the memory: a result of this type; the text of its error.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn lift(
        &self,
        store: impl AsContextMut,
        at: u32,
        gives: Gives,
    ) -> Result<Result<Given, String>, String> {
        let memory = self.memory.data(&store);
        // The case in one byte; what it holds is aligned to four where it may be a text.
        let case = slice(memory, at, 1)?.first().copied();
        let at = at.checked_add(4).ok_or("what it gives lies outside of its memory")?;
        match (case, gives) {
            (Some(0), Gives::Text) => Ok(Ok(Given::Text(text(memory, at)?))),
            (Some(0), Gives::Bool) => {
                let flag = slice(memory, at, 1)?.first().copied();
                Ok(Ok(Given::Bool(flag != Some(0))))
            }
            (Some(0), Gives::Texts) => {
                let Part { at: first, length: count } = entry(memory, at)?;
                if count as usize > MOST_TEXTS {
                    return Err(format!("it gives {count} texts, and {MOST_TEXTS} are the most"));
                }
                let mut texts = Vec::with_capacity(count as usize);
                let mut bytes = 0;
                for number in 0..count {
                    let place = number.checked_mul(8).and_then(|own| first.checked_add(own));
                    let own = text(memory, place.ok_or("a list of texts has no end")?)?;
                    bytes += own.len();
                    if bytes > MOST_BYTES {
                        return Err(format!("it gives more than {MOST_BYTES} bytes"));
                    }
                    texts.push(own);
                }
                Ok(Ok(Given::Texts(texts)))
            }
            (Some(1), _) => Ok(Err(text(memory, at)?)),
            (Some(_) | None, _) => Err("what it gives is no result".to_owned()),
        }
    }
}

/// Where something stands in a module's memory, and how many bytes or entries it has.
#[derive(Debug, Clone, Copy)]
struct Part {
    at: u32,
    length: u32,
}

impl Part {
    fn flat(self) -> [Val; 2] {
        [Val::I32(self.at.cast_signed()), Val::I32(self.length.cast_signed())]
    }
}

fn length(length: usize) -> wasmtime::Result<u32> {
    u32::try_from(length).map_err(|_| wasmtime::Error::msg("an argument of more than 32 bits"))
}

fn text(memory: &[u8], at: u32) -> Result<String, String> {
    let Part { at, length } = entry(memory, at)?;
    if length as usize > MOST_BYTES {
        return Err(format!("it gives a text of {length} bytes, and {MOST_BYTES} are the most"));
    }
    let bytes = slice(memory, at, length as usize)?.to_vec();
    String::from_utf8(bytes).map_err(|_| "it gives a text that is not UTF-8".to_owned())
}

/// A pointer and a length.
fn entry(memory: &[u8], at: u32) -> Result<Part, String> {
    let number = |part: &[u8]| part.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
    let (first, second) = slice(memory, at, PAIR)?.split_at(4);
    Ok(Part { at: number(first), length: number(second) })
}

fn slice(memory: &[u8], at: u32, length: usize) -> Result<&[u8], String> {
    let at = at as usize;
    let end = at.checked_add(length);
    let found = end.and_then(|end| memory.get(at..end));
    found.ok_or_else(|| "what it gives lies outside of its memory".to_owned())
}

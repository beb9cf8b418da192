//! `TYPE(NAME=…, PROPERTIES(…))`.

use crate::command::{Algorithm, AlgorithmUse, NamedAlgorithm, Property};
use crate::error::{Error, Result};
use crate::tree::Part;

/// Of an `algorithm` part.
pub(crate) fn algorithm(part: Part<'_>) -> Result<Algorithm> {
    let properties = properties(part.get("properties"))?;
    Ok(Algorithm { kind: part.name_of("typeName")?, properties })
}

/// Of a part that holds either an `algorithm` or the name of one.
pub(crate) fn algorithm_use(part: Part<'_>) -> Result<AlgorithmUse> {
    match part.get("algorithm") {
        Some(inline) => algorithm(inline).map(AlgorithmUse::Inline),
        None => part.name_of("algorithmName").map(AlgorithmUse::Named),
    }
}

/// Of a `namedAlgorithm` part.
pub(crate) fn named_algorithm(part: Part<'_>) -> Result<NamedAlgorithm> {
    Ok(NamedAlgorithm {
        name: part.name_of("algorithmName")?,
        algorithm: algorithm(part.need("algorithm")?)?,
    })
}

/// Of a `properties` part; none when there is none.
///
/// # Errors
/// A key that is given twice.
pub(crate) fn properties(part: Option<Part<'_>>) -> Result<Vec<Property>> {
    let mut properties: Vec<Property> = Vec::new();
    let mut keys = std::collections::HashSet::new();
    for found in part.into_iter().flat_map(|part| part.all("property")) {
        let (key, value) = (found.text_of("key")?, found.text_of("value")?);
        if !keys.insert(key.clone()) {
            return Err(Error::value(format!("property `{key}` is given twice"), found.span()));
        }
        properties.push(Property { key, value, place: found.place() });
    }
    Ok(properties)
}

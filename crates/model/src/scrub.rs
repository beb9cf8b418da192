//! Keeps secrets out of messages and answers.

use pando_config::{Content, Errors, Node};

use crate::refusal::{Kind, Refusal};

/// What stands in the place of a secret.
pub(crate) const HIDDEN: &str = "******";

/// Whether a key's value is nobody's business.
pub(crate) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    // ZooKeeper's `digest` is `user:password`; of others, such as `digest-algorithm-name`, anybody may know.
    let words = ["password", "secret", "key-value", "private-key", "sm4-key"];
    key == "digest" || words.iter().any(|word| key.contains(word))
}

/// Whether a value with this key holds a secret that is not a placeholder, in whole or in part.
pub(crate) fn holds_secret(key: &str, text: &str) -> bool {
    (is_secret(key) && !text.is_empty() && !is_placeholder(text)) || !of_url(text).is_empty()
}

/// Whether a text is one placeholder, without a default that would be a secret itself.
fn is_placeholder(text: &str) -> bool {
    let inside = text.strip_prefix("$${").and_then(|rest| rest.strip_suffix('}'));
    let default = |inside: &str| inside.split_once("::").map_or(0, |(_, default)| default.len());
    inside.is_some_and(|inside| !inside.contains('}') && default(inside) == 0)
}

/// The errors as a refusal, without any secret of the tree they are about.
pub(crate) fn refusal(kind: Kind, errors: &Errors, tree: &Node) -> Refusal {
    Refusal::new(kind, scrubbed(errors.to_string(), tree))
}

/// A message without the secrets of a tree.
pub(crate) fn scrubbed(mut message: String, tree: &Node) -> String {
    let mut secrets = Vec::new();
    gather("", tree, &mut secrets);
    // The longest first, as one may stand inside another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        message = message.replace(secret.as_str(), HIDDEN);
    }
    message
}

fn gather(key: &str, node: &Node, secrets: &mut Vec<String>) {
    match &node.content {
        Content::Scalar { text, .. } if is_secret(key) => secrets.push(text.clone()),
        Content::Scalar { text, .. } => secrets.extend(of_url(text)),
        Content::Sequence(items) => items.iter().for_each(|item| gather(key, item, secrets)),
        Content::Mapping(entries) => {
            entries.iter().for_each(|entry| gather(&entry.key, &entry.value, secrets));
        }
    }
}

/// The passwords in a URL: `//user:password@` and `password=` of its parameters. Placeholders are none.
fn of_url(text: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    let Some((_, rest)) = text.split_once("//") else { return secrets };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    // A password may hold a slash that somebody forgot to encode.
    let until_at = rest.rfind('@').and_then(|at| rest.get(..at)).unwrap_or_default();
    let credentials = authority.rsplit_once('@').map_or(until_at, |(credentials, _)| credentials);
    if let Some((_, password)) = credentials.split_once(':') {
        secrets.push(password.to_owned());
    }
    let parameters = text.split_once('?').map_or("", |(_, parameters)| parameters);
    for (key, value) in parameters.split('&').filter_map(|pair| pair.split_once('=')) {
        if is_secret(key) {
            secrets.push(value.to_owned());
        }
    }
    secrets.retain(|secret| !secret.is_empty() && !is_placeholder(secret));
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_wherever_they_stand() {
        assert_eq!(of_url("jdbc:mysql://me:p/w@h/x?a=b&password=q"), ["p/w", "q"]);
        assert!(of_url("jdbc:mysql://h:3306/x?useSSL=false").is_empty());
        assert!(of_url("jdbc:mysql://h/x?password=$${PW}").is_empty());
        assert!(holds_secret("password", "$${PW::fallback}"));
        assert!(!holds_secret("password", "$${PW}"));
        assert!(holds_secret("aes-key-value", "k"));
        assert!(holds_secret("digest", "user:password"));
        assert!(!holds_secret("digest-algorithm-name", "SHA-1"));
        let tree = Node::mapping([("url", Node::text("jdbc:mysql://me:hush@h"))]);
        assert_eq!(scrubbed("about `hush`".into(), &tree), "about `******`");
    }
}

//! The version that clients are told.

use std::sync::Arc;

/// The least of these servers' versions, as it says.
pub(super) fn told(servers: &[Arc<str>]) -> Option<String> {
    let number = |server: &Arc<str>| -> Vec<u32> {
        let own = server.split(' ').next().unwrap_or_default();
        own.split('.').map_while(|part| part.parse().ok()).collect()
    };
    servers.iter().min_by_key(|server| number(server)).map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_version_is_told() {
        let least = |servers: &[&str]| {
            let servers: Vec<Arc<str>> = servers.iter().map(|server| (*server).into()).collect();
            told(&servers)
        };
        assert_eq!(least(&["16.3", "9.6.24", "15.18 (Debian)"]).as_deref(), Some("9.6.24"));
        assert_eq!(least(&["15.18 (Debian)"]).as_deref(), Some("15.18 (Debian)"));
        assert_eq!(least(&[]), None);
    }
}

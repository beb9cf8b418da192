//! The little of TOML that a `Cargo.toml` of this workspace uses: tables, and keys whose value ends on a later line only
//! inside brackets.

use std::collections::BTreeMap;

/// Who depends on what, by the names written in the file.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// `None` in a manifest that only declares the workspace.
    pub(crate) package: Option<String>,
    /// `[dependencies]` and `[build-dependencies]`, for every target.
    pub(crate) dependencies: BTreeMap<String, Dependency>,
    pub(crate) dev_dependencies: BTreeMap<String, Dependency>,
    pub(crate) workspace_dependencies: BTreeMap<String, Dependency>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The real name where the key is an alias (`package = "…"`).
    pub(crate) package: Option<String>,
    pub(crate) is_git: bool,
}

impl Manifest {
    /// Never fails: what it does not know, it skips. cargo itself refuses a file that is not TOML.
    pub(crate) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut table: Vec<String> = Vec::new();
        let mut lines = text.lines().map(without_comment);
        while let Some(line) = lines.next() {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                table = key_parts(header.trim_matches(['[', ']']));
                manifest.enter(&table);
            } else if let Some((key, value)) = line.split_once('=') {
                let mut value = value.trim().to_owned();
                while open_brackets(&value) > 0 {
                    let Some(next) = lines.next() else { break };
                    value.push_str(next.trim());
                }
                let mut path = table.clone();
                path.extend(key_parts(key));
                manifest.set(&path, &value);
            }
        }
        manifest
    }

    /// The package a key of this manifest stands for, looked up in `workspace` where it is inherited.
    pub(crate) fn package_of<'a>(
        key: &'a str,
        dependency: &'a Dependency,
        workspace: &'a Manifest,
    ) -> &'a str {
        let inherited = workspace.workspace_dependencies.get(key);
        dependency
            .package
            .as_deref()
            .or_else(|| inherited.and_then(|inherited| inherited.package.as_deref()))
            .unwrap_or(key)
    }

    fn set(&mut self, path: &[String], value: &str) {
        if path == ["package", "name"] {
            self.package = Some(unquoted(value).to_owned());
            return;
        }
        let Some((kind, rest)) = split_table(path) else { return };
        let [name, rest @ ..] = rest else { return };
        let dependency = self.table(kind).entry(name.clone()).or_default();
        match rest {
            [] => {
                let fields = value.trim_matches(['{', '}']).split(',');
                for (key, value) in fields.filter_map(|field| field.split_once('=')) {
                    dependency.set(key.trim(), value.trim());
                }
            }
            [key, ..] => dependency.set(key, value),
        }
    }

    /// `[dependencies.name]` names a dependency even if no key follows.
    fn enter(&mut self, table: &[String]) {
        if let Some((kind, [name, ..])) = split_table(table) {
            self.table(kind).entry(name.clone()).or_default();
        }
    }

    fn table(&mut self, kind: Kind) -> &mut BTreeMap<String, Dependency> {
        match kind {
            Kind::Normal => &mut self.dependencies,
            Kind::Dev => &mut self.dev_dependencies,
            Kind::Workspace => &mut self.workspace_dependencies,
        }
    }
}

impl Dependency {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "package" => self.package = Some(unquoted(value).to_owned()),
            "git" => self.is_git = true,
            _ => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Normal,
    Dev,
    Workspace,
}

/// Which dependency table a key path lies in, and the rest of the path.
fn split_table(path: &[String]) -> Option<(Kind, &[String])> {
    let (first, rest) = path.split_first()?;
    match (first.as_str(), rest) {
        ("dependencies" | "build-dependencies", rest) => Some((Kind::Normal, rest)),
        ("dev-dependencies", rest) => Some((Kind::Dev, rest)),
        ("workspace", [table, rest @ ..]) if table == "dependencies" => {
            Some((Kind::Workspace, rest))
        }
        ("target", [_, rest @ ..]) => split_table(rest),
        _ => None,
    }
}

/// `target.'cfg(unix)'.dependencies` → three parts; a dot inside quotes does not part.
fn key_parts(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in key.trim().chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('.', None) => parts.push(String::new()),
            (c, _) => {
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

fn open_brackets(value: &str) -> i32 {
    let mut quoted = false;
    let mut open = 0;
    for c in value.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => open += 1,
            ']' | '}' if !quoted => open -= 1,
            _ => {}
        }
    }
    open
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: &BTreeMap<String, Dependency>) -> Vec<&str> {
        table.keys().map(String::as_str).collect()
    }

    #[test]
    fn every_way_to_write_a_dependency_is_seen() {
        let manifest = Manifest::parse(
            r#"
[package]
name = "pando-x" # the name
[dependencies]
a.workspace = true
b = "1"
c = { workspace = true, features = [
  "one",   # with a comment
  "two",
] }
[dependencies.d]
version = "1"
[target.'cfg(target_os = "linux")'.dependencies]
e = "1"
[build-dependencies]
f = "1"
[dev-dependencies]
g = "1"
[features]
h = []
"#,
        );
        assert_eq!(manifest.package.as_deref(), Some("pando-x"));
        assert_eq!(names(&manifest.dependencies), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(names(&manifest.dev_dependencies), ["g"]);
    }

    #[test]
    fn an_alias_is_resolved_here_and_in_the_workspace() {
        let workspace =
            Manifest::parse("[workspace.dependencies]\nx = { path = \"y\", package = \"real\" }\n");
        let own = Manifest::parse(
            "[dependencies]\nx.workspace = true\nz = { package = \"other\", git = \"u\" }\n",
        );
        let package =
            |key: &str| Manifest::package_of(key, &own.dependencies[key], &workspace).to_owned();
        assert_eq!(package("x"), "real");
        assert_eq!(package("z"), "other");
        assert!(own.dependencies["z"].is_git);
    }
}

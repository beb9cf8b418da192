//! What instances and persons say beside the configuration.

use std::collections::{BTreeMap, BTreeSet};

use pando_model::ReadUnit;

use crate::keys;

/// Everything of a repository that is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cluster {
    /// Instances that are running, by id.
    pub instances: BTreeMap<String, Instance>,
    /// Ids of instances that a person took out of work.
    pub broken: BTreeSet<String>,
    /// Labels by instance id.
    pub labels: BTreeMap<String, Vec<String>>,
    /// Worker ids in use, with the id of the instance.
    pub workers: BTreeMap<u32, String>,
    /// Replicas that a person took out of work.
    pub replicas: Vec<ReadUnit>,
    /// Database and name of storage units that a person took out of work.
    pub units: BTreeSet<(String, String)>,
    /// What is remembered of groups, by database and group: who led last and whom it knows.
    pub memories: BTreeMap<(String, String), String>,
    /// Which definition of its tables was the last, by database: an instance that sees another one forgets what it knows of them.
    pub definitions: BTreeMap<String, String>,
    /// What the cluster as a whole takes.
    pub admits: Admits,
}

/// What statements are let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Admits {
    /// All.
    #[default]
    Everything,
    /// Those that change nothing: LOCK CLUSTER WITH WRITE.
    Reads,
    /// None: LOCK CLUSTER WITH READ_WRITE, or the instance is out of work.
    Nothing,
}

/// How clients reach an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InstanceKind {
    /// By its listeners.
    #[default]
    Proxy,
    /// It is in the process of its only client, and has no port.
    Embedded,
}

impl InstanceKind {
    /// In ShardingSphere's words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proxy => "PROXY",
            Self::Embedded => "JDBC",
        }
    }
}

/// A running instance, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Instance {
    /// How it is reached.
    pub kind: InstanceKind,
    /// Where it can be reached, or is.
    pub host: String,
    /// The port of its first door; 0 without one.
    pub port: u16,
    /// Its version.
    pub version: String,
    /// The checksum of the configuration that it serves; empty before it serves one.
    pub serves: String,
    /// [`Cluster::definitions_known`] as it has taken them up.
    pub knows: String,
}

impl Admits {
    /// As it is stored, in ShardingSphere's words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Everything => "OK",
            Self::Reads => "READ_ONLY",
            Self::Nothing => "UNAVAILABLE",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let all = [Self::Everything, Self::Reads, Self::Nothing];
        all.into_iter().find(|admits| admits.word() == word)
    }
}

/// The word under which an instance, a replica or a unit is out of work.
pub(crate) const DISABLED: &str = "DISABLED";

impl Cluster {
    /// What an instance takes.
    pub fn admitted(&self, instance: &str) -> Admits {
        if self.broken.contains(instance) { Admits::Nothing } else { self.admits }
    }

    /// A checksum of all definitions: FNV-1a, so that instances of every build have the same.
    pub fn definitions_known(&self) -> String {
        let parts = self.definitions.iter().flat_map(|(database, text)| [database, text]);
        let bytes = parts.flat_map(|part| part.bytes().chain([0]));
        let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{sum:016x}")
    }

    /// The other instances that do not serve the configuration with this checksum, or have not taken up all definitions.
    pub(crate) fn behind(&self, own: &str, checksum: &str) -> Vec<&str> {
        let known = self.definitions_known();
        let is_behind = |other: &Instance| other.knows != known || other.serves != checksum;
        let others = self.instances.iter().filter(|(id, _)| *id != own);
        others.filter(|(_, other)| is_behind(other)).map(|(id, _)| id.as_str()).collect()
    }

    /// Takes up one entry; what this version does not know is passed over, as a newer instance may have written it.
    pub(crate) fn take(&mut self, path: &str, value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        let one = |name: &str| keys::parts::<1>(name).map(|[name]| name);
        if let Some(id) = path.strip_prefix(keys::ONLINE).and_then(one) {
            self.instances.insert(id, Instance::read(&text));
        } else if let Some(id) = path.strip_prefix(keys::STATUS).and_then(one) {
            self.broken.insert(id);
        } else if let Some(id) = path.strip_prefix(keys::LABELS).and_then(one) {
            self.labels.insert(id, text.lines().map(str::to_owned).collect());
        } else if let Some(number) = path.strip_prefix(keys::WORKERS) {
            if let Ok(number) = number.parse() {
                self.workers.insert(number, text.into_owned());
            }
        } else if let Some([database, group, unit]) =
            path.strip_prefix(keys::REPLICAS).and_then(keys::parts)
        {
            self.replicas.push(ReadUnit { database, group, unit });
        } else if let Some([database, unit]) = path.strip_prefix(keys::UNITS).and_then(keys::parts)
        {
            self.units.insert((database, unit));
        } else if let Some(database) = path.strip_prefix(keys::DEFINITIONS).and_then(one) {
            self.definitions.insert(database, text.into_owned());
        } else if let Some([database, group]) =
            path.strip_prefix(keys::MEMORIES).and_then(keys::parts)
        {
            self.memories.insert((database, group), text.into_owned());
        } else if path == keys::STATE {
            self.admits = Admits::of(&text).unwrap_or_default();
        }
    }
}

impl Instance {
    /// Lines of `name: value`.
    pub(crate) fn text(&self) -> String {
        let Self { kind, host, port, version, serves, knows } = self;
        let kind = kind.word();
        format!(
            "type: {kind}\nhost: {host}\nport: {port}\nversion: {version}\nserves: {serves}\nknows: {knows}\n"
        )
    }

    fn read(text: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
            match name {
                "type" if value == InstanceKind::Embedded.word() => {
                    read.kind = InstanceKind::Embedded;
                }
                "host" => value.clone_into(&mut read.host),
                "port" => read.port = value.parse().unwrap_or_default(),
                "version" => value.clone_into(&mut read.version),
                "serves" => value.clone_into(&mut read.serves),
                "knows" => value.clone_into(&mut read.knows),
                _ => {}
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_comes_back_from_what_it_says() {
        for kind in [InstanceKind::Proxy, InstanceKind::Embedded] {
            let instance = Instance {
                kind,
                host: "10.0.0.1".into(),
                port: 3307,
                version: "0.1.0".into(),
                serves: "0123456789abcdef".into(),
                knows: "f".into(),
            };
            assert_eq!(Instance::read(&instance.text()), instance);
        }
    }

    #[test]
    fn entries_are_taken_up_by_their_folder() {
        let mut cluster = Cluster::default();
        cluster.take("/nodes/compute_nodes/online/proxy/a", b"host: h\nport: 1\n");
        cluster.take("/nodes/compute_nodes/status/a", b"DISABLED");
        cluster.take("/nodes/compute_nodes/labels/a", b"one\ntwo");
        cluster.take("/reservation/worker_id/7", b"a");
        cluster.take("/nodes/qualified_data_sources/shop.g.r", b"DISABLED");
        cluster.take("/nodes/storage_units/shop.ds_0", b"DISABLED");
        cluster.take("/states/cluster_state", b"READ_ONLY");
        cluster.take("/something/new", b"");
        assert_eq!(cluster.instances["a"].host, "h");
        assert_eq!(cluster.labels["a"], ["one", "two"]);
        assert_eq!(cluster.workers[&7], "a");
        assert_eq!(cluster.replicas[0].unit, "r");
        assert!(cluster.units.contains(&("shop".into(), "ds_0".into())));
        assert_eq!(cluster.admitted("a"), Admits::Nothing);
        assert_eq!(cluster.admitted("b"), Admits::Reads);
    }
}

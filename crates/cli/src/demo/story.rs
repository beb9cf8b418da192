//! What the demonstration does, in order, and what it says about it.

/// Which door a step goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    Postgres,
    MySql,
}

/// One step.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) door: Door,
    /// One sentence for the reader.
    pub(super) says: &'static str,
    pub(super) sql: &'static str,
}

/// The steps before the shards are looked into.
pub(super) const FILL: [Step; 4] = [
    Step {
        door: Door::Postgres,
        says: "Make a table. It becomes four: two in each storage unit.",
        sql: "CREATE TABLE t_order (order_id BIGINT PRIMARY KEY, user_id INT, region_id INT, amount INT)",
    },
    Step {
        door: Door::Postgres,
        says: "Make a broadcast table. It becomes two equal ones, one in each storage unit.",
        sql: "CREATE TABLE t_region (region_id INT PRIMARY KEY, name VARCHAR(20))",
    },
    Step {
        door: Door::MySql,
        says: "Fill the broadcast table, through the other door.",
        sql: "INSERT INTO t_region (region_id, name) VALUES (1, 'north'), (2, 'south')",
    },
    Step {
        door: Door::Postgres,
        says: "Insert eight orders in one statement. Each goes to its own shard.",
        sql: "INSERT INTO t_order (order_id, user_id, region_id, amount) VALUES (1, 10, 1, 50), (2, 11, 2, 20), (3, 12, 1, 70), (4, 13, 2, 10), (5, 11, 1, 90), (6, 10, 2, 30), (7, 13, 1, 60), (8, 12, 2, 40)",
    },
];

/// The steps after that.
pub(super) const ASK: [Step; 6] = [
    Step {
        door: Door::Postgres,
        says: "Ask all shards at once; the four sorted answers become one.",
        sql: "SELECT order_id, user_id, amount FROM t_order ORDER BY amount DESC LIMIT 4",
    },
    Step {
        door: Door::MySql,
        says: "Group across shards, joined with the broadcast table.",
        sql: "SELECT r.name, COUNT(*) AS orders, SUM(o.amount) AS total, AVG(o.amount) AS mean FROM t_order o JOIN t_region r ON r.region_id = o.region_id GROUP BY r.name ORDER BY r.name",
    },
    Step {
        door: Door::MySql,
        says: "Where would that go? PREVIEW tells without running it.",
        sql: "PREVIEW SELECT r.name, AVG(o.amount) AS mean FROM t_order o JOIN t_region r ON r.region_id = o.region_id GROUP BY r.name",
    },
    Step {
        door: Door::Postgres,
        says: "With both sharding keys it is one table of one storage unit.",
        sql: "PREVIEW SELECT * FROM t_order WHERE user_id = 11 AND order_id = 5",
    },
    Step {
        door: Door::MySql,
        says: "Change rows in several shards with one statement.",
        sql: "UPDATE t_order SET amount = amount + 1 WHERE user_id IN (10, 11)",
    },
    Step {
        door: Door::Postgres,
        says: "Both doors open onto the same rows.",
        sql: "SELECT COUNT(*) AS orders, SUM(amount) AS total FROM t_order",
    },
];

/// The actual tables, for looking into the storage units themselves.
pub(super) const SHARDS: [(&str, &str); 6] = [
    ("ds_0", "t_order_0"),
    ("ds_0", "t_order_1"),
    ("ds_1", "t_order_0"),
    ("ds_1", "t_order_1"),
    ("ds_0", "t_region"),
    ("ds_1", "t_region"),
];

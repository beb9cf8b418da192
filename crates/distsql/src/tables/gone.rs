//! Statements of ShardingSphere that Pando has none of. They are known, so that people are told so and not of a slip.

/// One of them.
pub(crate) struct Gone {
    /// Its first words, as in the list of heads.
    pub(crate) head: &'static str,
    /// Why it is not there, and what to do instead.
    pub(crate) why: &'static str,
    /// One as ShardingSphere's documentation has it.
    #[cfg(test)]
    pub(crate) example: &'static str,
}

macro_rules! gone {
    ($($why:ident: $($head:literal, $example:literal;)+)+) => {
        pub(crate) static GONE: &[Gone] = &[
            $($(Gone { head: $head, why: $why, #[cfg(test)] example: $example },)+)+
        ];
    };
}

const MIGRATION: &str = "migration statements are not supported by this version; make the new table's rule and copy the rows with INSERT … SELECT";
const STREAMING: &str = "streaming (CDC) statements are not supported by this version";
const SCALING: &str = "scaling statements are not supported: ShardingSphere has dropped them since 5.2, and this version has no migration either";
const TRAFFIC: &str = "traffic rules are not supported: ShardingSphere has dropped them since 5.5";
const HINT: &str = "hint statements are not supported: ShardingSphere has dropped them since 5.3.2; write a comment, as `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */`";

gone! {
    MIGRATION:
        "REGISTER MIGRATION", "REGISTER MIGRATION SOURCE STORAGE UNIT ds_0(URL='jdbc:mysql://h/d', USER='u')";
        "UNREGISTER MIGRATION", "UNREGISTER MIGRATION SOURCE STORAGE UNIT ds_0";
        "MIGRATE TABLE", "MIGRATE TABLE ds_0.t_order INTO t_order";
        "SHOW MIGRATION *", "SHOW MIGRATION LIST";
        "START MIGRATION", "START MIGRATION 'j01'";
        "STOP MIGRATION", "STOP MIGRATION CHECK 'j01'";
        "ROLLBACK MIGRATION", "ROLLBACK MIGRATION 'j01'";
        "COMMIT MIGRATION", "COMMIT MIGRATION 'j01'";
        "CHECK MIGRATION", "CHECK MIGRATION 'j01' BY TYPE (NAME='DATA_MATCH')";
        "DROP MIGRATION", "DROP MIGRATION CHECK 'j01'";
        "ALTER MIGRATION", "ALTER MIGRATION RULE (READ(WORKER_THREAD=20))";
    STREAMING:
        "SHOW STREAMING *", "SHOW STREAMING LIST";
        "DROP STREAMING", "DROP STREAMING 'j03'";
        "COMMIT STREAMING", "COMMIT STREAMING 'j03'";
        "ALTER STREAMING", "ALTER STREAMING RULE (READ(WORKER_THREAD=20))";
    SCALING:
        "SHOW SCALING *", "SHOW SCALING LIST";
        "START SCALING", "START SCALING 660152090995195904";
        "STOP SCALING", "STOP SCALING SOURCE WRITING 660152090995195904";
        "RESTORE SCALING", "RESTORE SCALING SOURCE WRITING 660152090995195904";
        "CHECKOUT SCALING", "CHECKOUT SCALING 660152090995195904";
        "CHECK SCALING", "CHECK SCALING 660152090995195904 BY TYPE(NAME=DEFAULT)";
        "DROP SCALING", "DROP SCALING 660152090995195904";
        "RESET SCALING *", "RESET SCALING 660152090995195904";
        "APPLY SCALING", "APPLY SCALING 660152090995195904";
        "RESHARD TABLE", "RESHARD TABLE t_order BY t_order(STORAGE_UNITS(ds_0))";
        "CREATE SHARDING SCALING", "CREATE SHARDING SCALING RULE scaling_1(INPUT(WORKER_THREAD=40))";
        "ALTER SHARDING SCALING", "ALTER SHARDING SCALING RULE scaling_1(INPUT(WORKER_THREAD=40))";
        "DROP SHARDING SCALING", "DROP SHARDING SCALING RULE scaling_1";
        "ENABLE SHARDING", "ENABLE SHARDING SCALING RULE scaling_1";
        "DISABLE SHARDING", "DISABLE SHARDING SCALING RULE scaling_1";
        "SHOW SHARDING SCALING", "SHOW SHARDING SCALING RULES";
    TRAFFIC:
        "CREATE TRAFFIC", "CREATE TRAFFIC RULE r(LABELS(a), TRAFFIC_ALGORITHM(TYPE(NAME='SQL_MATCH')))";
        "ALTER TRAFFIC", "ALTER TRAFFIC RULE r(LABELS(a), TRAFFIC_ALGORITHM(TYPE(NAME='SQL_MATCH')))";
        "DROP TRAFFIC", "DROP TRAFFIC RULE r";
        "SHOW TRAFFIC *", "SHOW TRAFFIC RULES";
    HINT:
        "SET SHARDING HINT", "SET SHARDING HINT DATABASE_VALUE = 100";
        "ADD SHARDING HINT", "ADD SHARDING HINT TABLE_VALUE t_order = 100";
        "SHOW SHARDING HINT", "SHOW SHARDING HINT STATUS";
        "CLEAR SHARDING", "CLEAR SHARDING HINT";
        "SET READWRITE_SPLITTING HINT", "SET READWRITE_SPLITTING HINT SOURCE = write";
        "SHOW READWRITE_SPLITTING HINT", "SHOW READWRITE_SPLITTING HINT STATUS";
        "CLEAR READWRITE_SPLITTING", "CLEAR READWRITE_SPLITTING HINT";
        "CLEAR HINT", "CLEAR HINT";
}

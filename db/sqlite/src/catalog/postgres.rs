//! The relations of PostgreSQL's `pg_catalog` that are shown, and what each column holds.
//! <https://www.postgresql.org/docs/15/catalogs.html>

use pando_kernel::presentation::Holding::{self, Shared, Tables};

use super::relation::Relation;

const fn of(
    name: &'static str,
    holding: Holding,
    from: &'static str,
    columns: &'static str,
) -> Relation {
    Relation { schema: "pg_catalog", name, holding, columns, from }
}

/// A relation of things that SQLite has none of.
const fn none(name: &'static str, columns: &'static str) -> Relation {
    of(name, Shared, "", columns)
}

pub(super) const RELATIONS: &[Relation] = &[
    of(
        "pg_class",
        Tables,
        "pando_classes AS c",
        "oid:i=c.oid ; relname:t=c.name ; relnamespace:i=2200 ; reltype:i=0 ; reloftype:i=0 ; relowner:i=10 ; relam:i=c.am
        relfilenode:i=c.oid ; reltablespace:i=0 ; relpages:i=0 ; reltuples:i=-1 ; relallvisible:i=0 ; reltoastrelid:i=0
        relhasindex:b=c.indexed ; relisshared:b=0 ; relpersistence:t='p' ; relkind:t=c.kind ; relnatts:i=c.atts ; relchecks:i=c.checks
        relhasrules:b=0 ; relhastriggers:b=EXISTS (SELECT 1 FROM pando_references AS f WHERE f.table_oid = c.oid OR f.target = c.name) ; relhassubclass:b=0 ; relrowsecurity:b=0 ; relforcerowsecurity:b=0
        relispopulated:b=1 ; relreplident:t='d' ; relispartition:b=0 ; relrewrite:i=0 ; relfrozenxid:i=0 ; relminmxid:i=0
        relacl:t ; reloptions:t ; relpartbound:t",
    ),
    of(
        "pg_attribute",
        Tables,
        "(SELECT c.oid AS relid, c.name AS attname, c.type AS type, c.cid + 1 AS num, (c.nn OR c.pk > 0) AS nn, c.dflt IS NOT NULL AS hasdef, \
         CASE WHEN c.auto AND c.pk > 0 THEN 'd' ELSE '' END AS auto, CASE WHEN c.hidden IN (2, 3) THEN 's' ELSE '' END AS made, \
         (c.pk > 0 AND c.keys = 1) AS rowkey FROM pando_columns AS c WHERE c.hidden <> 1 UNION ALL \
         SELECT k.oid, coalesce(k.name, 'expr'), coalesce((SELECT c.type FROM pando_columns AS c WHERE c.oid = k.table_oid AND c.cid = k.cid), 'text'), k.seq + 1, 0, 0, '', '', \
         (SELECT c.pk > 0 AND c.keys = 1 FROM pando_columns AS c WHERE c.oid = k.table_oid AND c.cid = k.cid) FROM pando_keys AS k WHERE k.part = 1) AS a",
        "attrelid:i=a.relid ; attname:t=a.attname ; atttypid:i=pando_oid(a.type, a.rowkey) ; attstattarget:i=-1 ; attlen:i=pando_length(pando_oid(a.type, a.rowkey))
        attnum:i=a.num ; attndims:i=0 ; attcacheoff:i=-1 ; atttypmod:i=pando_modifier(a.type) ; attbyval:b=0 ; attalign:t='i' ; attstorage:t='p'
        attcompression:t='' ; attnotnull:b=a.nn ; atthasdef:b=a.hasdef ; atthasmissing:b=0 ; attidentity:t=a.auto ; attgenerated:t=a.made
        attisdropped:b=0 ; attislocal:b=1 ; attinhcount:i=0 ; attcollation:i=pando_collation(pando_oid(a.type, a.rowkey)) ; attacl:t ; attoptions:t
        attfdwoptions:t ; attmissingval:t",
    ),
    of(
        "pg_attrdef",
        Tables,
        "pando_columns AS c WHERE c.dflt IS NOT NULL",
        "oid:i=c.oid * 2048 + c.cid ; adrelid:i=c.oid ; adnum:i=c.cid + 1 ; adbin:t=c.dflt",
    ),
    of(
        "pg_index",
        Tables,
        "pando_indexes AS i",
        "indexrelid:i=i.oid ; indrelid:i=i.table_oid ; indnatts:i=(SELECT count(*) FROM pando_keys AS k WHERE k.oid = i.oid AND k.part = 1)
        indnkeyatts:i=(SELECT count(*) FROM pando_keys AS k WHERE k.oid = i.oid AND k.part = 1) ; indisunique:b=i.uniq ; indnullsnotdistinct:b=0
        indisprimary:b=i.origin = 'pk' ; indisexclusion:b=0 ; indimmediate:b=1 ; indisclustered:b=0 ; indisvalid:b=1 ; indcheckxmin:b=0
        indisready:b=1 ; indislive:b=1 ; indisreplident:b=0
        indkey:t=(SELECT group_concat(max(k.cid + 1, 0), ' ') FROM (SELECT * FROM pando_keys ORDER BY seq) AS k WHERE k.oid = i.oid AND k.part = 1)
        indcollation:t ; indclass:t
        indoption:t=(SELECT group_concat(CASE WHEN k.down THEN 3 ELSE 0 END, ' ') FROM (SELECT * FROM pando_keys ORDER BY seq) AS k WHERE k.oid = i.oid AND k.part = 1)
        indexprs:t ; indpred:t=CASE WHEN i.partial THEN pando_predicate(i.text) END",
    ),
    of(
        "pg_constraint",
        Tables,
        "pando_constraints AS c",
        "oid:i=c.oid ; conname:t=c.name ; connamespace:i=2200 ; contype:t=c.kind ; condeferrable:b=0 ; condeferred:b=0 ; convalidated:b=1
        conrelid:i=c.table_oid ; contypid:i=0 ; conindid:i=c.index_oid ; conparentid:i=0 ; confrelid:i=c.target_oid ; confupdtype:t=c.updated
        confdeltype:t=c.deleted ; confmatchtype:t=CASE c.kind WHEN 'f' THEN 's' ELSE ' ' END ; conislocal:b=1 ; coninhcount:i=0 ; connoinherit:b=1
        conkey:t=c.keys ; confkey:t=c.others ; conpfeqop:t ; conppeqop:t ; conffeqop:t ; conexclop:t ; conbin:t",
    ),
    of(
        "pg_tables",
        Tables,
        "pando_tables AS t WHERE t.kind = 'r'",
        "schemaname:t='public' ; tablename:t=t.name ; tableowner:t={user} ; tablespace:t
        hasindexes:b=EXISTS (SELECT 1 FROM pando_indexes AS i WHERE i.table_oid = t.oid) ; hasrules:b=0 ; hastriggers:b=0 ; rowsecurity:b=0",
    ),
    of(
        "pg_views",
        Tables,
        "pando_tables AS t WHERE t.kind = 'v'",
        "schemaname:t='public' ; viewname:t=t.name ; viewowner:t={user} ; definition:t=pando_query(t.text)",
    ),
    of(
        "pg_indexes",
        Tables,
        "pando_indexes AS i",
        "schemaname:t='public' ; tablename:t=i.tname ; indexname:t=i.name ; tablespace:t
        indexdef:t=(SELECT d.pando_t FROM pando_definitions AS d WHERE d.pando_k = i.oid AND d.pando_n = 0)",
    ),
    of(
        "pg_namespace",
        Shared,
        "(SELECT 11 AS oid, 'pg_catalog' AS name UNION ALL SELECT 2200, 'public' UNION ALL SELECT 13000, 'information_schema') AS n",
        "oid:i=n.oid ; nspname:t=n.name ; nspowner:i=10 ; nspacl:t",
    ),
    of(
        "pg_database",
        Shared,
        "(SELECT column1 AS oid, column2 AS name FROM (VALUES {databases}) UNION ALL SELECT 4, 'postgres' WHERE NOT EXISTS (SELECT 1 FROM (VALUES {databases}) WHERE column2 = 'postgres')) AS d",
        "oid:i=d.oid ; datname:t=d.name ; datdba:i=10 ; encoding:i=6 ; datlocprovider:t='c' ; datistemplate:b=0 ; datallowconn:b=1 ; datconnlimit:i=-1
        datfrozenxid:i=0 ; datminmxid:i=0 ; dattablespace:i=1663 ; datcollate:t='C' ; datctype:t='C' ; daticulocale:t ; datcollversion:t ; datacl:t",
    ),
    of(
        "pg_type",
        Shared,
        "(SELECT j.value ->> 0 AS oid, j.value ->> 1 AS name, j.value ->> 2 AS category, j.value ->> 3 AS many, j.value ->> 4 AS one FROM json_each(pando_types()) AS j) AS t",
        "oid:i=t.oid ; typname:t=t.name ; typnamespace:i=11 ; typowner:i=10 ; typlen:i=pando_length(t.oid) ; typbyval:b=0 ; typtype:t='b'
        typcategory:t=t.category ; typispreferred:b=0 ; typisdefined:b=1 ; typdelim:t=',' ; typrelid:i=0 ; typsubscript:i=0 ; typelem:i=t.one ; typarray:i=t.many
        typinput:t=concat(t.name, 'in') ; typoutput:t=concat(t.name, 'out') ; typreceive:t=concat(t.name, 'recv') ; typsend:t=concat(t.name, 'send')
        typmodin:i=0 ; typmodout:i=0 ; typanalyze:i=0 ; typalign:t='i' ; typstorage:t='p' ; typnotnull:b=0 ; typbasetype:i=0 ; typtypmod:i=-1 ; typndims:i=0
        typcollation:i=pando_collation(t.oid) ; typdefaultbin:t ; typdefault:t ; typacl:t",
    ),
    of(
        "pg_am",
        Shared,
        "(SELECT 2 AS oid, 'heap' AS name, 't' AS kind UNION ALL SELECT 403, 'btree', 'i') AS a",
        "oid:i=a.oid ; amname:t=a.name ; amhandler:i=0 ; amtype:t=a.kind",
    ),
    of(
        "pg_roles",
        Shared,
        "(SELECT 10 AS oid) AS r",
        "oid:i=r.oid ; rolname:t={user} ; rolsuper:b=0 ; rolinherit:b=1 ; rolcreaterole:b=0 ; rolcreatedb:b=0 ; rolcanlogin:b=1 ; rolreplication:b=0
        rolconnlimit:i=-1 ; rolpassword:t='********' ; rolvaliduntil:t ; rolbypassrls:b=0 ; rolconfig:t",
    ),
    of(
        "pg_user",
        Shared,
        "(SELECT 10 AS oid) AS r",
        "usename:t={user} ; usesysid:i=r.oid ; usecreatedb:b=0 ; usesuper:b=0 ; userepl:b=0 ; usebypassrls:b=0 ; passwd:t='********' ; valuntil:t ; useconfig:t",
    ),
    of(
        "pg_tablespace",
        Shared,
        "(SELECT 1663 AS oid) AS s",
        "oid:i=s.oid ; spcname:t='pg_default' ; spcowner:i=10 ; spcacl:t ; spcoptions:t",
    ),
    of(
        "pg_collation",
        Shared,
        "(SELECT 100 AS oid, 'default' AS name UNION ALL SELECT 950, 'C') AS c",
        "oid:i=c.oid ; collname:t=c.name ; collnamespace:i=11 ; collowner:i=10 ; collprovider:t='c' ; collisdeterministic:b=1 ; collencoding:i=-1
        collcollate:t='C' ; collctype:t='C' ; colliculocale:t ; collversion:t",
    ),
    of(
        "pg_settings",
        Shared,
        "(SELECT j.value ->> 0 AS name, j.value ->> 1 AS setting FROM json_each({settings}) AS j) AS s",
        "name:t=s.name ; setting:t=s.setting ; unit:t ; category:t='Pando' ; short_desc:t='' ; extra_desc:t ; context:t='internal' ; vartype:t='string'
        source:t='default' ; min_val:t ; max_val:t ; enumvals:t ; boot_val:t=s.setting ; reset_val:t=s.setting ; sourcefile:t ; sourceline:i ; pending_restart:b=0",
    ),
    none("pg_proc", "oid:i ; proname:t ; pronamespace:i ; proowner:i ; prolang:i ; prokind:t ; prosecdef:b ; proleakproof:b ; proisstrict:b ; proretset:b
        provolatile:t ; proparallel:t ; pronargs:i ; pronargdefaults:i ; prorettype:i ; proargtypes:t ; proallargtypes:t ; proargmodes:t ; proargnames:t ; prosrc:t ; proacl:t ; prorows:i ; provariadic:i"),
    none("pg_inherits", "inhrelid:i ; inhparent:i ; inhseqno:i ; inhdetachpending:b"),
    none("pg_description", "objoid:i ; classoid:i ; objsubid:i ; description:t"),
    none("pg_shdescription", "objoid:i ; classoid:i ; description:t"),
    none("pg_depend", "classid:i ; objid:i ; objsubid:i ; refclassid:i ; refobjid:i ; refobjsubid:i ; deptype:t"),
    none("pg_trigger", "oid:i ; tgrelid:i ; tgparentid:i ; tgname:t ; tgfoid:i ; tgtype:i ; tgenabled:t ; tgisinternal:b ; tgconstrrelid:i ; tgconstrindid:i
        tgconstraint:i ; tgdeferrable:b ; tginitdeferred:b ; tgnargs:i ; tgattr:t ; tgargs:t ; tgqual:t ; tgoldtable:t ; tgnewtable:t"),
    none("pg_rewrite", "oid:i ; rulename:t ; ev_class:i ; ev_type:t ; ev_enabled:t ; is_instead:b ; ev_qual:t ; ev_action:t"),
    none("pg_policy", "oid:i ; polname:t ; polrelid:i ; polcmd:t ; polpermissive:b ; polroles:t ; polqual:t ; polwithcheck:t"),
    none("pg_statistic_ext", "oid:i ; stxrelid:i ; stxname:t ; stxnamespace:i ; stxowner:i ; stxstattarget:i ; stxkeys:t ; stxkind:t ; stxexprs:t"),
    none("pg_publication", "oid:i ; pubname:t ; pubowner:i ; puballtables:b ; pubinsert:b ; pubupdate:b ; pubdelete:b ; pubtruncate:b ; pubviaroot:b"),
    none("pg_publication_rel", "oid:i ; prpubid:i ; prrelid:i ; prqual:t ; prattrs:t"),
    none("pg_publication_namespace", "oid:i ; pnpubid:i ; pnnspid:i"),
    none("pg_subscription", "oid:i ; subdbid:i ; subname:t ; subowner:i ; subenabled:b ; subpublications:t"),
    none("pg_event_trigger", "oid:i ; evtname:t ; evtevent:t ; evtowner:i ; evtfoid:i ; evtenabled:t ; evttags:t"),
    none("pg_sequence", "seqrelid:i ; seqtypid:i ; seqstart:i ; seqincrement:i ; seqmax:i ; seqmin:i ; seqcache:i ; seqcycle:b"),
    none("pg_sequences", "schemaname:t ; sequencename:t ; sequenceowner:t ; data_type:t ; start_value:i ; min_value:i ; max_value:i ; increment_by:i ; cycle:b ; cache_size:i ; last_value:i"),
    none("pg_matviews", "schemaname:t ; matviewname:t ; matviewowner:t ; tablespace:t ; hasindexes:b ; ispopulated:b ; definition:t"),
    none("pg_enum", "oid:i ; enumtypid:i ; enumsortorder:i ; enumlabel:t"),
    none("pg_range", "rngtypid:i ; rngsubtype:i ; rngmultitypid:i ; rngcollation:i ; rngsubopc:i"),
    none("pg_opclass", "oid:i ; opcmethod:i ; opcname:t ; opcnamespace:i ; opcowner:i ; opcfamily:i ; opcintype:i ; opcdefault:b ; opckeytype:i"),
    none("pg_extension", "oid:i ; extname:t ; extowner:i ; extnamespace:i ; extrelocatable:b ; extversion:t ; extconfig:t ; extcondition:t"),
    none("pg_auth_members", "roleid:i ; member:i ; grantor:i ; admin_option:b"),
    none("pg_default_acl", "oid:i ; defaclrole:i ; defaclnamespace:i ; defaclobjtype:t ; defaclacl:t"),
    none("pg_language", "oid:i ; lanname:t ; lanowner:i ; lanispl:b ; lanpltrusted:b ; lanplcallfoid:i ; laninline:i ; lanvalidator:i ; lanacl:t ; tableoid:i"),
    none("pg_cast", "oid:i ; castsource:i ; casttarget:i ; castfunc:i ; castcontext:t ; castmethod:t"),
    none("pg_partitioned_table", "partrelid:i ; partstrat:t ; partnatts:i ; partdefid:i ; partattrs:t ; partclass:t ; partcollation:t ; partexprs:t"),
    none("pg_foreign_table", "ftrelid:i ; ftserver:i ; ftoptions:t"),
    none("pg_foreign_server", "oid:i ; srvname:t ; srvowner:i ; srvfdw:i ; srvtype:t ; srvversion:t ; srvacl:t ; srvoptions:t"),
    none("pg_foreign_data_wrapper", "oid:i ; fdwname:t ; fdwowner:i ; fdwhandler:i ; fdwvalidator:i ; fdwacl:t ; fdwoptions:t"),
];

const fn information(
    name: &'static str,
    holding: Holding,
    from: &'static str,
    columns: &'static str,
) -> Relation {
    Relation { schema: "information_schema", name, holding, columns, from }
}

/// <https://www.postgresql.org/docs/15/information-schema.html>
pub(super) const INFORMATION: &[Relation] = &[
    information(
        "tables",
        Tables,
        "pando_tables AS t",
        "table_catalog:t={database} ; table_schema:t='public' ; table_name:t=t.name ; table_type:t=CASE t.kind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END
        self_referencing_column_name:t ; reference_generation:t ; user_defined_type_catalog:t ; user_defined_type_schema:t ; user_defined_type_name:t
        is_insertable_into:t=CASE t.kind WHEN 'v' THEN 'NO' ELSE 'YES' END ; is_typed:t='NO' ; commit_action:t",
    ),
    information(
        "columns",
        Tables,
        "(SELECT *, (pk > 0 AND keys = 1) AS rowkey FROM pando_columns WHERE hidden <> 1) AS c",
        "table_catalog:t={database} ; table_schema:t='public' ; table_name:t=c.tname ; column_name:t=c.name ; ordinal_position:i=c.cid + 1 ; column_default:t=c.dflt
        is_nullable:t=CASE WHEN c.nn OR c.pk > 0 THEN 'NO' ELSE 'YES' END ; data_type:t=format_type(pando_oid(c.type, c.rowkey), NULL)
        character_maximum_length:i=pando_characters(c.type) ; character_octet_length:i=pando_characters(c.type) * 4
        numeric_precision:i=pando_precision(pando_oid(c.type, c.rowkey), c.type) ; numeric_precision_radix:i=pando_radix(pando_oid(c.type, c.rowkey)) ; numeric_scale:i=pando_scale(pando_oid(c.type, c.rowkey), c.type)
        datetime_precision:i=CASE WHEN pando_oid(c.type, c.rowkey) IN (1083, 1114, 1184) THEN 6 END
        interval_type:t ; interval_precision:i ; character_set_catalog:t ; character_set_schema:t ; character_set_name:t ; collation_catalog:t
        collation_schema:t ; collation_name:t ; domain_catalog:t ; domain_schema:t ; domain_name:t ; udt_catalog:t={database} ; udt_schema:t='pg_catalog'
        udt_name:t=pando_type_name(pando_oid(c.type, c.rowkey)) ; scope_catalog:t ; scope_schema:t ; scope_name:t ; maximum_cardinality:i ; dtd_identifier:t=c.cid + 1 ; is_self_referencing:t='NO'
        is_identity:t=CASE WHEN c.auto AND c.pk > 0 THEN 'YES' ELSE 'NO' END ; identity_generation:t=CASE WHEN c.auto AND c.pk > 0 THEN 'BY DEFAULT' END
        identity_start:t ; identity_increment:t ; identity_maximum:t ; identity_minimum:t ; identity_cycle:t='NO'
        is_generated:t=CASE WHEN c.hidden IN (2, 3) THEN 'ALWAYS' ELSE 'NEVER' END ; generation_expression:t ; is_updatable:t='YES'",
    ),
    information(
        "views",
        Tables,
        "pando_tables AS t WHERE t.kind = 'v'",
        "table_catalog:t={database} ; table_schema:t='public' ; table_name:t=t.name ; view_definition:t=pando_query(t.text) ; check_option:t='NONE'
        is_updatable:t='NO' ; is_insertable_into:t='NO' ; is_trigger_updatable:t='NO' ; is_trigger_deletable:t='NO' ; is_trigger_insertable_into:t='NO'",
    ),
    information(
        "table_constraints",
        Tables,
        "pando_constraints AS c CROSS JOIN pando_tables AS t WHERE t.oid = c.table_oid",
        "constraint_catalog:t={database} ; constraint_schema:t='public' ; constraint_name:t=c.name ; table_catalog:t={database} ; table_schema:t='public'
        table_name:t=t.name ; constraint_type:t=CASE c.kind WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END
        is_deferrable:t='NO' ; initially_deferred:t='NO' ; enforced:t='YES' ; nulls_distinct:t",
    ),
    information(
        "key_column_usage",
        Tables,
        "(SELECT i.name AS con, i.tname AS tname, k.name AS col, k.seq AS seq, NULL AS pos FROM pando_indexes AS i CROSS JOIN pando_keys AS k \
         WHERE k.oid = i.oid AND k.part = 1 AND i.origin IN ('pk', 'u') UNION ALL \
         SELECT c.name, f.tname, f.own, f.seq, f.seq + 1 FROM pando_constraints AS c CROSS JOIN pando_references AS f WHERE f.oid = c.oid) AS u",
        "constraint_catalog:t={database} ; constraint_schema:t='public' ; constraint_name:t=u.con ; table_catalog:t={database} ; table_schema:t='public'
        table_name:t=u.tname ; column_name:t=u.col ; ordinal_position:i=u.seq + 1 ; position_in_unique_constraint:i=u.pos",
    ),
    information(
        "constraint_column_usage",
        Tables,
        "(SELECT i.name AS con, i.tname AS tname, k.name AS col FROM pando_indexes AS i CROSS JOIN pando_keys AS k \
         WHERE k.oid = i.oid AND k.part = 1 AND i.origin IN ('pk', 'u') UNION ALL \
         SELECT c.name, f.target, f.other FROM pando_constraints AS c CROSS JOIN pando_references AS f WHERE f.oid = c.oid) AS u",
        "table_catalog:t={database} ; table_schema:t='public' ; table_name:t=u.tname ; column_name:t=u.col ; constraint_catalog:t={database}
        constraint_schema:t='public' ; constraint_name:t=u.con",
    ),
    information(
        "referential_constraints",
        Tables,
        "pando_constraints AS c WHERE c.kind = 'f'",
        "constraint_catalog:t={database} ; constraint_schema:t='public' ; constraint_name:t=c.name ; unique_constraint_catalog:t={database}
        unique_constraint_schema:t='public' ; unique_constraint_name:t=(SELECT i.name FROM pando_indexes AS i WHERE i.oid = c.index_oid) ; match_option:t='NONE'
        update_rule:t=(SELECT f.updated FROM pando_references AS f WHERE f.oid = c.oid) ; delete_rule:t=(SELECT f.deleted FROM pando_references AS f WHERE f.oid = c.oid)",
    ),
    information(
        "schemata",
        Shared,
        "(SELECT 'pg_catalog' AS name UNION ALL SELECT 'public' UNION ALL SELECT 'information_schema') AS s",
        "catalog_name:t={database} ; schema_name:t=s.name ; schema_owner:t={user} ; default_character_set_catalog:t ; default_character_set_schema:t
        default_character_set_name:t ; sql_path:t",
    ),
    information("routines", Shared, "", "specific_catalog:t ; specific_schema:t ; specific_name:t ; routine_catalog:t ; routine_schema:t ; routine_name:t ; routine_type:t ; data_type:t ; routine_definition:t"),
    information("sequences", Shared, "", "sequence_catalog:t ; sequence_schema:t ; sequence_name:t ; data_type:t ; start_value:t ; minimum_value:t ; maximum_value:t ; increment:t ; cycle_option:t"),
    information("triggers", Shared, "", "trigger_catalog:t ; trigger_schema:t ; trigger_name:t ; event_manipulation:t ; event_object_table:t ; action_statement:t ; action_timing:t"),
    information("check_constraints", Shared, "", "constraint_catalog:t ; constraint_schema:t ; constraint_name:t ; check_clause:t"),
];

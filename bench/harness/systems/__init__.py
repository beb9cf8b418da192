"""The measured systems, by name and in the order of the table."""
from .direct import Direct
from .haproxy import HAProxy, HAProxyTables, HAProxyUnits
from .pando import Pando
from .pgbouncer import PgBouncer
from .shardingsphere import ShardingSphere

ALL = {system.name: system for system in (Direct, HAProxy, HAProxyTables, HAProxyUnits, PgBouncer, ShardingSphere, Pando)}

"""The measured systems, by name and in the order of the table."""
from .direct import Direct, Unit
from .haproxy import HAProxy, HAProxyTables, HAProxyUnit, HAProxyUnits
from .pando import Pando
from .pgbouncer import PgBouncer
from .shardingsphere import ShardingSphere

ALL = {system.name: system for system in (Direct, Unit, HAProxy, HAProxyTables, HAProxyUnit, HAProxyUnits, PgBouncer, ShardingSphere, Pando)}

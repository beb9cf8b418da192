"""What a PostgreSQL client is told of its settings: whenever they change, whatever has changed them, as by one server."""
from plain.house import case, direct
from shop import each, refused

NAMES = ("TimeZone", "IntervalStyle", "application_name", "DateStyle")

# Each from where the one before has left it.
STEPS = [
    "set time zone 'Asia/Tokyo'",
    "begin",
    "set time zone 'Europe/Paris'",
    "set local intervalstyle = 'iso_8601'",
    "rollback",
    "begin",
    "set local time zone 'Europe/Paris'",
    "select set_config('IntervalStyle', 'sql_standard', true)",
    "commit",
    "begin",
    "set application_name = 'outer'",
    "savepoint a",
    "set application_name = 'inner'",
    "set local time zone 'UTC'",
    "savepoint b",
    "set time zone 'Africa/Cairo'",
    "rollback to b",
    "rollback to a",
    "commit",
    "begin",
    "set time zone 'America/New_York'",
    "select 1/0",
    "rollback",
    "set intervalstyle = 'postgres_verbose'",
    "reset intervalstyle",
    "select set_config('TimeZone', 'Europe/Rome', false)",
    "reset timezone",
    "set application_name = 'again'",
    "set time zone 'Asia/Tokyo'; select 1/0",
    "begin; set local time zone 'Asia/Tokyo'; commit",
    "set time zone 'Asia/Tokyo'",
    "reset all",
    "set application_name = 'last'",
    "discard all",
]


def settings_told(family, pando):
    straight, ours = direct(family, 0), pando.client(family, "shop")
    for client in (straight, ours):
        client.query("set time zone 'UTC'")
    for place, step in enumerate(STEPS):
        with case(f"pg-told-{place}"):
            for client in (straight, ours):
                if "1/0" in step:
                    refused(client, step)
                else:
                    client.query(step)
            for name in NAMES:
                # What a login begins with is each server's own.
                if ours.settings[name] in ("Etc/UTC", ""):
                    assert straight.settings[name] in ("Etc/UTC", "UTC", "GMT", ""), (step, name, straight.settings[name])
                    continue
                assert ours.settings[name] == straight.settings[name], (step, name, ours.settings[name], straight.settings[name])
            if ours.status != "E":
                for name in ("TimeZone", "IntervalStyle", "DateStyle"):
                    assert ours.value(f"show {name}") == ours.settings[name], (step, name, ours.settings[name])
    straight.close()
    ours.close()


def main():
    each(["pg"], settings_told)

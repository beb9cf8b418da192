"""The nine tables of TPC-C, and rows for them at a reduced size; every relation between the rows that the specification asks for holds."""
import datetime
import random
from decimal import Decimal

WAREHOUSES, DISTRICTS, CUSTOMERS, ITEMS = 4, 10, 30, 200
# Of the customers' first orders the last third is not delivered.
DELIVERED = CUSTOMERS * 7 // 10
LINES = (5, 15)
NOW = datetime.datetime(2024, 1, 2, 3, 4, 5)
CENT = Decimal("0.01")
SYLLABLES = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"]

# By table: columns, keys, and the column with the warehouse.
TABLES = {
    "item": ("i_id integer not null, i_im_id integer, i_name varchar(24), i_price decimal(5,2), i_data varchar(50)", "i_id", None),
    "warehouse": ("w_id integer not null, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20), w_city varchar(20), "
                  "w_state char(2), w_zip char(9), w_tax decimal(4,4), w_ytd decimal(12,2)", "w_id", "w_id"),
    "district": ("d_id integer not null, d_w_id integer not null, d_name varchar(10), d_street_1 varchar(20), d_street_2 varchar(20), "
                 "d_city varchar(20), d_state char(2), d_zip char(9), d_tax decimal(4,4), d_ytd decimal(12,2), d_next_o_id integer",
                 "d_w_id, d_id", "d_w_id"),
    "customer": ("c_id integer not null, c_d_id integer not null, c_w_id integer not null, c_first varchar(16), c_middle char(2), "
                 "c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), c_state char(2), c_zip char(9), "
                 "c_phone char(16), c_since timestamp null, c_credit char(2), c_credit_lim decimal(12,2), c_discount decimal(4,4), "
                 "c_balance decimal(12,2), c_ytd_payment decimal(12,2), c_payment_cnt integer, c_delivery_cnt integer, c_data varchar(500)",
                 "c_w_id, c_d_id, c_id", "c_w_id"),
    "history": ("h_c_id integer, h_c_d_id integer, h_c_w_id integer, h_d_id integer, h_w_id integer, h_date timestamp null, "
                "h_amount decimal(6,2), h_data varchar(24)", None, "h_w_id"),
    "new_order": ("no_o_id integer not null, no_d_id integer not null, no_w_id integer not null", "no_w_id, no_d_id, no_o_id", "no_w_id"),
    "orders": ("o_id integer not null, o_d_id integer not null, o_w_id integer not null, o_c_id integer, o_entry_d timestamp null, "
               "o_carrier_id integer, o_ol_cnt integer, o_all_local integer", "o_w_id, o_d_id, o_id", "o_w_id"),
    "order_line": ("ol_o_id integer not null, ol_d_id integer not null, ol_w_id integer not null, ol_number integer not null, "
                   "ol_i_id integer, ol_supply_w_id integer, ol_delivery_d timestamp null, ol_quantity integer, ol_amount decimal(6,2), "
                   "ol_dist_info char(24)", "ol_w_id, ol_d_id, ol_o_id, ol_number", "ol_w_id"),
    "stock": ("s_i_id integer not null, s_w_id integer not null, s_quantity integer, "
              + ", ".join(f"s_dist_{n:02} char(24)" for n in range(1, 11))
              + ", s_ytd integer, s_order_cnt integer, s_remote_cnt integer, s_data varchar(50)", "s_w_id, s_i_id", "s_w_id"),
}
INDEXES = ["create index customer_name on customer (c_w_id, c_d_id, c_last, c_first)",
           "create index orders_customer on orders (o_w_id, o_d_id, o_c_id, o_id)"]


def rules():
    """Two units with two tables each; everything but the items lies together by warehouse."""
    text = "rules:\n- !SHARDING\n  tables:\n"
    keys = {table: key for table, (_, _, key) in TABLES.items() if key}
    for table, key in keys.items():
        text += (f"    {table}:\n      actualDataNodes: ds_${{0..1}}.{table}_${{0..1}}\n"
                 f"      databaseStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: unit_of_{table}}}}}\n"
                 f"      tableStrategy: {{standard: {{shardingColumn: {key}, shardingAlgorithmName: table_of_{table}}}}}\n")
    text += f'  bindingTables: ["{",".join(keys)}"]\n  shardingAlgorithms:\n'
    for table, key in keys.items():
        text += (f"    unit_of_{table}: {{type: INLINE, props: {{algorithm-expression: \"ds_${{{key} % 2}}\"}}}}\n"
                 f"    table_of_{table}: {{type: INLINE, props: {{algorithm-expression: \"{table}_${{{key}.intdiv(2) % 2}}\"}}}}\n")
    return text + "- !BROADCAST\n  tables: [item]\n"


def last_name(number):
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:03}")


class Rows:
    """The first population."""

    def __init__(self, seed=1):
        self.chance = random.Random(seed)

    def text(self, low, high):
        return "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyz", k=self.chance.randint(low, high)))

    def place(self):
        return self.text(10, 20), self.text(10, 20), self.text(10, 20), self.text(2, 2).upper(), f"{self.chance.randint(0, 9999):04}11111"

    def share(self, most):
        return Decimal(self.chance.randint(0, most)) / 10000

    def data(self):
        text = self.text(26, 40)
        return text if self.chance.random() > 0.1 else text[:10] + "ORIGINAL" + text[10:]

    def items(self):
        return [(i, self.chance.randint(1, 10000), self.text(14, 24), Decimal(self.chance.randint(100, 10000)) * CENT, self.data())
                for i in range(1, ITEMS + 1)]

    def warehouse(self, w):
        """Rows by table; the year's takings are what the customers have paid."""
        paid = Decimal(10) * CUSTOMERS
        rows = {table: [] for table in TABLES}
        rows["warehouse"].append((w, self.text(6, 10), *self.place(), self.share(2000), paid * DISTRICTS))
        for i in range(1, ITEMS + 1):
            rows["stock"].append((i, w, self.chance.randint(10, 100), *[self.text(24, 24) for _ in range(10)], 0, 0, 0, self.data()))
        for d in range(1, DISTRICTS + 1):
            rows["district"].append((d, w, self.text(6, 10), *self.place(), self.share(2000), paid, CUSTOMERS + 1))
            for c in range(1, CUSTOMERS + 1):
                rows["customer"].append((
                    c, d, w, self.text(8, 16), "OE", last_name(c % 10), *self.place(), f"{self.chance.randint(0, 10**16 - 1):016}", NOW,
                    "BC" if self.chance.random() < 0.1 else "GC", Decimal(50000), self.share(5000), Decimal(-10), Decimal(10), 1, 0, self.text(300, 480)))
                rows["history"].append((c, d, w, d, w, NOW, Decimal(10), self.text(12, 24)))
            self.orders(rows, w, d)
        return rows

    def orders(self, rows, w, d):
        customers = list(range(1, CUSTOMERS + 1))
        self.chance.shuffle(customers)
        for o, c in enumerate(customers, 1):
            is_delivered, count = o <= DELIVERED, self.chance.randint(*LINES)
            rows["orders"].append((o, d, w, c, NOW, self.chance.randint(1, 10) if is_delivered else None, count, 1))
            if not is_delivered:
                rows["new_order"].append((o, d, w))
            for number in range(1, count + 1):
                # What was delivered at first has cost nothing.
                amount = Decimal(0) if is_delivered else Decimal(self.chance.randint(1, 999999)) * CENT
                rows["order_line"].append((o, d, w, number, self.chance.randint(1, ITEMS), w, NOW if is_delivered else None, 5, amount,
                                           self.text(24, 24)))

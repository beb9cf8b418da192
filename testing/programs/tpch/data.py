"""Rows that follow the TPC-H schema and its rules of values, from a seed. Beside chance, some parts and orders are made so that every one
of the 22 queries finds something at a small scale."""
import datetime
import random
from decimal import Decimal

CENT = Decimal("0.01")
FIRST, TODAY, LAST = datetime.date(1992, 1, 1), datetime.date(1995, 6, 17), datetime.date(1998, 12, 31)

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3),
           ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0),
           ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3),
           ("UNITED KINGDOM", 3), ("UNITED STATES", 1)]
COLOURS = """almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate
coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew
hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy
olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate
smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow""".split()
TYPES = [["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"], ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
         ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"]]
CONTAINERS = [["SM", "LG", "MED", "JUMBO", "WRAP"], ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
WORDS = """foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes courts dolphins accounts deposits
packages sleep wake haggle nag cajole boost detect integrate furiously slyly carefully blithely quickly fluffily final express regular ironic
even bold silent pending unusual special requests according to the above after along""".split()

# By table: its columns with their types, and its key.
SCHEMA = {
    "region": ("r_regionkey integer not null, r_name char(25) not null, r_comment varchar(152)", "r_regionkey"),
    "nation": ("n_nationkey integer not null, n_name char(25) not null, n_regionkey integer not null, n_comment varchar(152)", "n_nationkey"),
    "supplier": ("s_suppkey integer not null, s_name char(25) not null, s_address varchar(40) not null, s_nationkey integer not null, "
                 "s_phone char(15) not null, s_acctbal decimal(15,2) not null, s_comment varchar(101) not null", "s_suppkey"),
    "customer": ("c_custkey integer not null, c_name varchar(25) not null, c_address varchar(40) not null, c_nationkey integer not null, "
                 "c_phone char(15) not null, c_acctbal decimal(15,2) not null, c_mktsegment char(10) not null, "
                 "c_comment varchar(117) not null", "c_custkey"),
    "part": ("p_partkey integer not null, p_name varchar(55) not null, p_mfgr char(25) not null, p_brand char(10) not null, "
             "p_type varchar(25) not null, p_size integer not null, p_container char(10) not null, p_retailprice decimal(15,2) not null, "
             "p_comment varchar(23) not null", "p_partkey"),
    "partsupp": ("ps_partkey integer not null, ps_suppkey integer not null, ps_availqty integer not null, "
                 "ps_supplycost decimal(15,2) not null, ps_comment varchar(199) not null", "ps_partkey, ps_suppkey"),
    "orders": ("o_orderkey bigint not null, o_custkey integer not null, o_orderstatus char(1) not null, o_totalprice decimal(15,2) not null, "
               "o_orderdate date not null, o_orderpriority char(15) not null, o_clerk char(15) not null, o_shippriority integer not null, "
               "o_comment varchar(79) not null", "o_orderkey"),
    "lineitem": ("l_orderkey bigint not null, l_partkey integer not null, l_suppkey integer not null, l_linenumber integer not null, "
                 "l_quantity decimal(15,2) not null, l_extendedprice decimal(15,2) not null, l_discount decimal(15,2) not null, "
                 "l_tax decimal(15,2) not null, l_returnflag char(1) not null, l_linestatus char(1) not null, l_shipdate date not null, "
                 "l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null, l_shipmode char(10) not null, "
                 "l_comment varchar(44) not null", "l_orderkey, l_linenumber"),
}
INDEXES = ["create index lineitem_part on lineitem (l_partkey, l_suppkey)", "create index orders_customer on orders (o_custkey)",
           "create index partsupp_supplier on partsupp (ps_suppkey)"]


class Data:
    """Lists of rows by table."""

    def __init__(self, scale, seed=1):
        self.chance = random.Random(seed)
        self.suppliers, self.parts = max(50, round(10_000 * scale)), max(400, round(200_000 * scale))
        self.customers, self.order_count = max(300, round(150_000 * scale)), max(3000, round(1_500_000 * scale))
        self.tables = {
            "region": [(key, name, self.comment(100)) for key, name in enumerate(REGIONS)],
            "nation": [(key, name, region, self.comment(100)) for key, (name, region) in enumerate(NATIONS)],
            "supplier": [self.supplier(key) for key in range(1, self.suppliers + 1)],
            "customer": [self.customer(key) for key in range(1, self.customers + 1)],
            "part": [self.part(key) for key in range(1, self.parts + 1)],
            "partsupp": [row for key in range(1, self.parts + 1) for row in self.partsupps(key)],
            "orders": [],
            "lineitem": [],
        }
        for number in range(self.order_count):
            order, lines = self.order(number)
            self.tables["orders"].append(order)
            self.tables["lineitem"] += lines

    # --- values ---

    def pick(self, *lists):
        return " ".join(self.chance.choice(words) for words in lists)

    def comment(self, most):
        text = " ".join(self.chance.choices(WORDS, k=9))
        return text[:self.chance.randint(most * 2 // 5, most)].rstrip()

    def address(self):
        return "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,. ", k=self.chance.randint(10, 40))).strip()

    def phone(self, nation):
        parts = (self.chance.randint(100, 999), self.chance.randint(100, 999), self.chance.randint(1000, 9999))
        return f"{nation + 10}-" + "-".join(map(str, parts))

    def money(self, low, high):
        return Decimal(self.chance.randint(low * 100, high * 100)) * CENT

    # --- rows ---

    def supplier(self, key):
        # By turns, so that each nation has suppliers however few there are.
        nation, comment = key % 25, self.comment(100)
        if key % 40 in (7, 8):
            comment = comment[:30] + " Customer " + self.chance.choice(WORDS) + (" Complaints" if key % 40 == 7 else " Recommends")
        return key, f"Supplier#{key:09}", self.address(), nation, self.phone(nation), self.money(-999, 9999), comment

    def customer(self, key):
        nation = self.chance.randrange(25)
        return (key, f"Customer#{key:09}", self.address(), nation, self.phone(nation), self.money(-999, 9999),
                self.chance.choice(SEGMENTS), self.comment(116))

    def part(self, key):
        maker = self.chance.randint(1, 5)
        brand, kind, size, box = f"Brand#{maker}{self.chance.randint(1, 5)}", self.pick(*TYPES), self.chance.randint(1, 50), self.pick(*CONTAINERS)
        name = " ".join(self.chance.sample(COLOURS, 5))
        special = key % 100
        if special == 15:
            kind, size = self.pick(*TYPES[:2]) + " BRASS", 15
        elif special == 8:
            kind = "ECONOMY ANODIZED STEEL"
        elif special == 17:
            brand, box = "Brand#23", "MED BOX"
        elif special in (19, 20, 21):
            brand, box = [("Brand#12", "SM BOX"), ("Brand#23", "MED BAG"), ("Brand#34", "LG CASE")][special - 19]
            size = self.chance.randint(1, 5)
        elif special == 22:
            name = "forest " + name.replace("forest", "green")
        return key, name, f"Manufacturer#{maker}", brand, kind, size, box, price(key), self.comment(22)

    def supplier_of(self, part, number):
        step = self.suppliers // 4 + (part - 1) // self.suppliers
        return (part + number * step) % self.suppliers + 1

    def partsupps(self, part):
        return [(part, self.supplier_of(part, number), self.chance.randint(1, 9999), self.money(1, 1000), self.comment(100)) for number in range(4)]

    def order(self, number):
        # Of 32 numbers the first 8 are in use.
        key = number // 8 * 32 + number % 8 + 1
        customer = self.chance.randint(1, self.customers)
        while customer % 3 == 0:
            customer = self.chance.randint(1, self.customers)
        date = FIRST + datetime.timedelta(self.chance.randint(0, (LAST - FIRST).days - 151))
        is_large = number % 400 == 7
        lines = [self.line(key, at, date, is_large) for at in range(1, (7 if is_large else self.chance.randint(1, 7)) + 1)]
        total = sum((line[5] * (1 + line[7]) * (1 - line[6]) for line in lines), Decimal(0)).quantize(CENT)
        states = {line[9] for line in lines}
        comment = self.comment(78)
        if self.chance.random() < 0.02:
            comment = comment[:40] + " special packages requests"
        order = (key, customer, states.pop() if len(states) == 1 else "P", total, date, self.chance.choice(PRIORITIES),
                 f"Clerk#{self.chance.randint(1, 1000):09}", 0, comment)
        return order, lines

    def line(self, order, number, date, is_large):
        part = self.chance.randint(1, self.parts)
        if self.chance.random() < 0.02:
            part = part // 100 * 100 + self.chance.choice((8, 17, 19, 20, 21, 22))
            part = part if part <= self.parts else part - 100
        quantity = Decimal(self.chance.randint(44, 50) if is_large else self.chance.randint(1, 50))
        instruction, mode = self.chance.choice(INSTRUCTIONS), self.chance.choice(MODES)
        if part % 100 in (17, 19, 20, 21) and self.chance.random() < 0.3 and not is_large:
            quantity, instruction, mode = Decimal([1, 8, 15, 25][[17, 19, 20, 21].index(part % 100)]), "DELIVER IN PERSON", "AIR"
        shipped = date + datetime.timedelta(self.chance.randint(1, 121))
        received = shipped + datetime.timedelta(self.chance.randint(1, 30))
        return (order, part, self.supplier_of(part, self.chance.randrange(4)), number, quantity, quantity * price(part),
                Decimal(self.chance.randint(0, 10)) * CENT, Decimal(self.chance.randint(0, 8)) * CENT,
                self.chance.choice("RA") if received <= TODAY else "N", "O" if shipped > TODAY else "F", shipped,
                date + datetime.timedelta(self.chance.randint(30, 90)), received, instruction, mode, self.comment(43))


def price(part):
    return Decimal(90000 + part // 10 % 20001 + 100 * (part % 1000)) * CENT


def lines(rows):
    """Rows as COPY and LOAD DATA take them by default: no value holds a tab, a backslash or a line end."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)

"""The five transactions of TPC-C for one terminal. Every statement is one that a program of either family writes with `%s` for values."""
import random
from decimal import Decimal

from load import CUSTOMERS, DISTRICTS, ITEMS, LINES, NOW, SYLLABLES, WAREHOUSES, last_name


class RolledBack(Exception):
    """The one new order in a hundred, a terminal's tenth first, that names an item which is not there."""


class Terminal:
    """`db` runs statements: `db.rows(sql, values)`, `db.one(sql, values)`, `db.write(sql, values)` for the number of rows."""

    def __init__(self, db, warehouse, seed):
        self.db, self.w, self.chance = db, warehouse, random.Random(seed)
        self.orders = 0

    # --- chance ---

    def uneven(self, most, low, high):
        """NURand of clause 2.1.6."""
        mixed = self.chance.randint(0, most) | self.chance.randint(low, high)
        return (mixed + 7) % (high - low + 1) + low

    def other_warehouse(self):
        return self.chance.choice([w for w in range(1, WAREHOUSES + 1) if w != self.w])

    def customer(self):
        return self.uneven(1023, 1, CUSTOMERS)

    # --- the transactions ---

    def new_order(self):
        db, w, d, c = self.db, self.w, self.chance.randint(1, DISTRICTS), self.customer()
        lines = []
        for _ in range(self.chance.randint(*LINES)):
            supplier = self.other_warehouse() if self.chance.randint(1, 100) == 1 else w
            lines.append((supplier, self.uneven(8191, 1, ITEMS), self.chance.randint(1, 10)))
        # Stocks are taken in one order by everybody: storage units that wait for each other see no deadlock.
        lines.sort()
        self.orders += 1
        if self.orders % 100 == 10:
            lines[-1] = (w, ITEMS + 1, 1)
        discount, _last, _credit, w_tax = db.one(
            "select c_discount, c_last, c_credit, w_tax from customer, warehouse where w_id = %s and c_w_id = w_id and c_d_id = %s and c_id = %s",
            (w, d, c))
        o, d_tax = db.one("select d_next_o_id, d_tax from district where d_id = %s and d_w_id = %s for update", (d, w))
        db.write("update district set d_next_o_id = %s where d_id = %s and d_w_id = %s", (o + 1, d, w))
        db.write("insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) values (%s, %s, %s, %s, %s, %s, %s)",
                 (o, d, w, c, NOW, len(lines), int(all(line[0] == w for line in lines))))
        db.write("insert into new_order (no_o_id, no_d_id, no_w_id) values (%s, %s, %s)", (o, d, w))
        total = Decimal(0)
        for number, (supplier, item, quantity) in enumerate(lines, 1):
            total += self.order_line((o, d, w, number), supplier, item, quantity)
        return total * (1 - discount) * (1 + w_tax + d_tax)

    def order_line(self, key, supplier, item, quantity):
        db, (_, d, w, _) = self.db, key
        found = db.rows("select i_price, i_name, i_data from item where i_id = %s", (item,))
        if not found:
            raise RolledBack
        stock, _data, info = db.one(
            f"select s_quantity, s_data, s_dist_{d:02} from stock where s_i_id = %s and s_w_id = %s for update", (item, supplier))
        left = stock - quantity if stock >= quantity + 10 else stock - quantity + 91
        db.write("update stock set s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %s "
                 "where s_i_id = %s and s_w_id = %s", (left, quantity, int(supplier != w), item, supplier))
        amount = quantity * found[0][0]
        db.write("insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) "
                 "values (%s, %s, %s, %s, %s, %s, %s, %s, %s)", (*key, item, supplier, quantity, amount, info))
        return amount

    def payment(self):
        db, w, d = self.db, self.w, self.chance.randint(1, DISTRICTS)
        c_w, c_d = (w, d) if self.chance.randint(1, 100) <= 85 else (self.other_warehouse(), self.chance.randint(1, DISTRICTS))
        amount = Decimal(self.chance.randint(100, 500000)) / 100
        db.write("update warehouse set w_ytd = w_ytd + %s where w_id = %s", (amount, w))
        warehouse = db.one("select w_street_1, w_street_2, w_city, w_state, w_zip, w_name from warehouse where w_id = %s", (w,))
        db.write("update district set d_ytd = d_ytd + %s where d_w_id = %s and d_id = %s", (amount, w, d))
        district = db.one("select d_street_1, d_street_2, d_city, d_state, d_zip, d_name from district where d_w_id = %s and d_id = %s", (w, d))
        c = self.by_last_name(c_w, c_d) if self.chance.randint(1, 100) <= 60 else self.customer()
        key = (c_w, c_d, c)
        credit, data = db.one("select c_credit, c_data from customer where c_w_id = %s and c_d_id = %s and c_id = %s for update", key)
        changed = "c_balance = c_balance - %s, c_ytd_payment = c_ytd_payment + %s, c_payment_cnt = c_payment_cnt + 1"
        if credit == "BC":
            data = f"{c} {c_d} {c_w} {d} {w} {amount}|{data}"[:500]
            count = db.write(f"update customer set {changed}, c_data = %s where c_w_id = %s and c_d_id = %s and c_id = %s", (amount, amount, data, *key))
        else:
            count = db.write(f"update customer set {changed} where c_w_id = %s and c_d_id = %s and c_id = %s", (amount, amount, *key))
        assert count == 1, f"{count} customers changed"
        db.write("insert into history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) values (%s, %s, %s, %s, %s, %s, %s, %s)",
                 (c_d, c_w, c, d, w, NOW, amount, f"{warehouse[5]}    {district[5]}"))

    def by_last_name(self, w, d):
        """The customer in the middle of those with a name, by first name."""
        name = last_name(self.uneven(255, 0, len(SYLLABLES) - 1))
        key = (name, d, w)
        (count,) = self.db.one("select count(c_id) from customer where c_last = %s and c_d_id = %s and c_w_id = %s", key)
        found = self.db.rows("select c_first, c_middle, c_id, c_balance from customer where c_last = %s and c_d_id = %s and c_w_id = %s "
                             "order by c_first", key)
        assert len(found) == count > 0, f"{len(found)} customers instead of {count} are called {name}"
        assert [row[0] for row in found] == sorted(row[0] for row in found), "not in order"
        return found[(len(found) + 1) // 2 - 1][2]

    def order_status(self):
        db, w, d = self.db, self.w, self.chance.randint(1, DISTRICTS)
        c = self.by_last_name(w, d) if self.chance.randint(1, 100) <= 60 else self.customer()
        db.one("select c_balance, c_first, c_middle, c_last from customer where c_id = %s and c_d_id = %s and c_w_id = %s", (c, d, w))
        found = db.rows("select o_id, o_carrier_id, o_entry_d, o_ol_cnt from orders where o_w_id = %s and o_d_id = %s and o_c_id = %s "
                        "order by o_id desc limit 1", (w, d, c))
        assert found, f"the customer {(w, d, c)} has no order"
        lines = db.rows("select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line "
                        "where ol_o_id = %s and ol_d_id = %s and ol_w_id = %s", (found[0][0], d, w))
        assert len(lines) == found[0][3], f"the order {(w, d, found[0][0])} has {len(lines)} lines instead of {found[0][3]}"

    def delivery(self):
        db, w, carrier, done = self.db, self.w, self.chance.randint(1, 10), []
        for d in range(1, DISTRICTS + 1):
            oldest = db.rows("select no_o_id from new_order where no_d_id = %s and no_w_id = %s order by no_o_id limit 1 for update", (d, w))
            if not oldest:
                continue
            key = (oldest[0][0], d, w)
            assert db.write("delete from new_order where no_o_id = %s and no_d_id = %s and no_w_id = %s", key) == 1, "delivered twice"
            (c,) = db.one("select o_c_id from orders where o_id = %s and o_d_id = %s and o_w_id = %s", key)
            db.write("update orders set o_carrier_id = %s where o_id = %s and o_d_id = %s and o_w_id = %s", (carrier, *key))
            db.write("update order_line set ol_delivery_d = %s where ol_o_id = %s and ol_d_id = %s and ol_w_id = %s", (NOW, *key))
            (amount,) = db.one("select sum(ol_amount) from order_line where ol_o_id = %s and ol_d_id = %s and ol_w_id = %s", key)
            db.write("update customer set c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 "
                     "where c_id = %s and c_d_id = %s and c_w_id = %s", (amount, c, d, w))
            done.append((w, d))
        return done

    def stock_level(self):
        w, d, least = self.w, self.chance.randint(1, DISTRICTS), self.chance.randint(10, 20)
        (following,) = self.db.one("select d_next_o_id from district where d_w_id = %s and d_id = %s", (w, d))
        (low,) = self.db.one("select count(distinct s_i_id) from order_line, stock where ol_w_id = %s and ol_d_id = %s and ol_o_id < %s "
                             "and ol_o_id >= %s - 20 and s_w_id = %s and s_i_id = ol_i_id and s_quantity < %s",
                             (w, d, following, following, w, least))
        assert 0 <= low <= ITEMS

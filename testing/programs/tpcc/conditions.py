"""The twelve consistency conditions of clause 3.3.2 of the TPC-C specification, each as a query that counts what breaks it."""

# By number: what must hold, and the query. Every one stands on its own on each shard but 10, whose payments may be made anywhere.
CONDITIONS = {
    1: ("W_YTD = sum(D_YTD)",
        "select count(*) from warehouse where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)"),
    2: ("D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
        "select count(*) from district left join "
        "(select o_w_id, o_d_id, max(o_id) as last_order from orders group by o_w_id, o_d_id) o on o_w_id = d_w_id and o_d_id = d_id left join "
        "(select no_w_id, no_d_id, max(no_o_id) as last_new from new_order group by no_w_id, no_d_id) n on no_w_id = d_w_id and no_d_id = d_id "
        "where last_order is null or d_next_o_id - 1 <> last_order or d_next_o_id - 1 <> last_new"),
    3: ("max(NO_O_ID) - min(NO_O_ID) + 1 = number of new orders",
        "select count(*) from (select no_w_id, no_d_id from new_order group by no_w_id, no_d_id "
        "having max(no_o_id) - min(no_o_id) + 1 <> count(*)) t"),
    4: ("sum(O_OL_CNT) = number of order lines",
        "select count(*) from (select o_w_id, o_d_id, sum(o_ol_cnt) as announced from orders group by o_w_id, o_d_id) o join "
        "(select ol_w_id, ol_d_id, count(*) as there from order_line group by ol_w_id, ol_d_id) l on ol_w_id = o_w_id and ol_d_id = o_d_id "
        "where announced <> there"),
    5: ("O_CARRIER_ID is null exactly for new orders",
        "select count(*) from orders left join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id "
        "where (o_carrier_id is null and no_o_id is null) or (o_carrier_id is not null and no_o_id is not null)"),
    6: ("O_OL_CNT = number of the order's lines",
        "select count(*) from orders where o_ol_cnt <> (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)"),
    7: ("OL_DELIVERY_D is null exactly where O_CARRIER_ID is",
        "select count(*) from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id "
        "where (ol_delivery_d is null and o_carrier_id is not null) or (ol_delivery_d is not null and o_carrier_id is null)"),
    8: ("W_YTD = sum(H_AMOUNT)",
        "select count(*) from warehouse where w_ytd <> (select sum(h_amount) from history where h_w_id = w_id)"),
    9: ("D_YTD = sum(H_AMOUNT)",
        "select count(*) from district where d_ytd <> (select sum(h_amount) from history where h_w_id = d_w_id and h_d_id = d_id)"),
    10: ("C_BALANCE = sum(OL_AMOUNT) delivered - sum(H_AMOUNT)",
         "select count(*) from customer left join "
         "(select o_w_id, o_d_id, o_c_id, sum(ol_amount) as bought from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id "
         "and ol_o_id = o_id where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) o "
         "on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id left join "
         "(select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as paid from history group by h_c_w_id, h_c_d_id, h_c_id) h "
         "on h_c_w_id = c_w_id and h_c_d_id = c_d_id and h_c_id = c_id where c_balance <> coalesce(bought, 0) - coalesce(paid, 0)"),
    11: ("orders - new orders = those delivered at first and since",
         "select count(*) from (select o_w_id, o_d_id, count(*) - count(no_o_id) as delivered from orders left join new_order "
         "on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id group by o_w_id, o_d_id) t where {delivered}"),
    12: ("C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) delivered",
         "select count(*) from customer left join "
         "(select o_w_id, o_d_id, o_c_id, sum(ol_amount) as bought from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id "
         "and ol_o_id = o_id where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) o "
         "on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id where c_balance + c_ytd_payment <> coalesce(bought, 0)"),
}
# Condition 10 in parts whose sums are made elsewhere.
BALANCES = ("select c_w_id, c_d_id, c_id, c_balance from customer",
            "select o_w_id, o_d_id, o_c_id, sum(ol_amount) from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id "
            "where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id",
            "select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) from history group by h_c_w_id, h_c_d_id, h_c_id")


def text(number, first, since):
    """Condition 11 needs to know how many orders of each district were delivered: at first, and by our terminals since, by district."""
    sql = CONDITIONS[number][1]
    if number != 11:
        return sql
    cases = " ".join(f"when o_w_id = {w} and o_d_id = {d} then {first + count}" for (w, d), count in sorted(since.items()))
    return sql.format(delivered=f"delivered <> case {cases} else {first} end" if cases else f"delivered <> {first}")

"""What Pando refuses where one server would answer: steps, and the code that the last one ends with."""
from speech import Q

CASES = {
    "constraints-by-name": ([[Q("set constraints nope deferred")]], "0A000"),
    "constraints-by-name-in-a-transaction": ([[Q("begin")], [Q("set /* x */ constraints u_t, nope deferred")]], "0A000"),
    "fetch-of-the-row-before": ([[Q("begin")], [Q("declare c cursor for select id from t order by id")], [Q("fetch 0 from c")], [Q("fetch 2 from c")], [Q("fetch 0 from c")]], "0A000"),
    "move-to-the-row-before": ([[Q("declare c cursor with hold for select id from t order by id")], [Q("fetch 2 from c")], [Q("move forward 0 from c")]], "0A000"),
    "fetch-backwards": ([[Q("begin")], [Q("declare c scroll cursor for select id from t where id = 1")], [Q("fetch 1 from c")], [Q("fetch prior from c")]], "0A000"),
}

"""What Pando refuses where one server would answer: steps, and the code that the last one ends with."""
from speech import Q

CASES = {
    "constraints-by-name": ([[Q("set constraints nope deferred")]], "0A000"),
    "constraints-by-name-in-a-transaction": ([[Q("begin")], [Q("set /* x */ constraints u_t, nope deferred")]], "0A000"),
}

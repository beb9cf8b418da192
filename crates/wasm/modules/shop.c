/* A shop's own algorithms, in C: a mask, the shadow of a load test, and which replica reads, by the interface of
 * `wit/algorithm.wit`. Built without any library:
 *
 *     clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o shop_c.wasm shop.c
 *
 * Texts come as a place and a length. A result is a case (0, or 1 for an error) and, four bytes on, what it holds. */

typedef unsigned int size;
struct text { const char *at; size length; };
struct pair { struct text key, value; };
struct result { unsigned char failed; struct text text; };
struct truth { unsigned char failed; unsigned char holds __attribute__((aligned(4))); };

#define EXPORT(name) __attribute__((export_name(name)))

/* Each call has a memory of its own, so that nothing is ever given back. */
extern char __heap_base;
static size next;

EXPORT("cabi_realloc") void *cabi_realloc(void *old, size old_size, size align, size length) {
  if (!next) next = (size)&__heap_base;
  size at = (next + align - 1) & ~(align - 1);
  next = at + length;
  while (next > __builtin_wasm_memory_size(0) * 65536u)
    if (__builtin_wasm_memory_grow(0, 1) == (size)-1) __builtin_trap();
  for (size i = 0; i < old_size && i < length; i++) ((char *)at)[i] = ((char *)old)[i];
  return (void *)at;
}

static struct result *given(const char *at, size length) {
  struct result *own = cabi_realloc(0, 0, 4, sizeof *own);
  own->failed = 0;
  own->text.at = at;
  own->text.length = length;
  return own;
}

static int equal(struct text a, const char *b) {
  size i = 0;
  while (i < a.length && b[i] && a.at[i] == b[i]) i++;
  return i == a.length && !b[i];
}

/* `anna@shop.example` is told as `a***@shop.example`. */
EXPORT("mask") struct result *mask(const struct pair *props, size count, const char *value, size length) {
  char *told = cabi_realloc(0, 0, 1, length + 4);
  size to = 0, at = 0;
  while (at < length && value[at] != '@') at++;
  if (length && at) told[to++] = value[0];
  told[to++] = '*';
  told[to++] = '*';
  told[to++] = '*';
  while (at < length) told[to++] = value[at++];
  return given(told, to);
}

/* Values that end as the property `ending` says are those of a load test. */
EXPORT("marks") struct truth *marks(const struct pair *props, size count, const char *value, size length) {
  struct truth *own = cabi_realloc(0, 0, 4, sizeof *own);
  own->failed = own->holds = 0;
  for (size i = 0; i < count; i++)
    if (equal(props[i].key, "ending")) {
      struct text ending = props[i].value;
      size same = 0;
      while (same < ending.length && same < length &&
             ending.at[ending.length - 1 - same] == value[length - 1 - same]) same++;
      own->holds = same == ending.length;
    }
  return own;
}

/* Reports read from the last replica, all others from each in turn. */
EXPORT("choose") struct result *choose(const struct pair *props, size count, const char *group, size group_length,
                                       const struct text *units, size of_them, const char *primary, size primary_length,
                                       const char *user, size user_length, int in_transaction,
                                       unsigned long long ticket) {
  struct text name = {user, user_length};
  struct text unit = units[equal(name, "report") ? of_them - 1 : (size)(ticket % of_them)];
  return given(unit.at, unit.length);
}

/* Divides by zero for an empty value: a fault that ends its own call. */
EXPORT("fault-mask") struct result *fault(const struct pair *props, size count, const char *value, volatile size length) {
  if (!length) __builtin_trap();
  return given(value, 100 / (length - 1));
}

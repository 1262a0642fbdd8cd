/* samples.c — see samples.h. */
#include "tests/support/samples.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"real",    "small", "positive", "nonzero", "few",
                                    "integer", "bool",  "index",    "seed",    "counter"};

static bool known_word(const char *w) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(w, words[i]) == 0) return true;
    return false;
}

/* word[<bound>][shape] at *s; moves *s past it. */
static bool read_operand(const char **s, sample_operand *o) {
    size_t n = 0;
    while (isalpha((unsigned char)(*s)[n])) n++;
    if (n == 0 || n >= sizeof o->word) return false;
    memcpy(o->word, *s, n);
    if (!known_word(o->word)) return false;
    *s += n;
    char *end;
    if (**s == '<') {
        o->bound = strtoll(*s + 1, &end, 10);
        if (end == *s + 1 || *end != '>') return false;
        *s = end + 1;
    }
    if ((o->bound > 0) != (strcmp(o->word, "index") == 0)) return false;
    o->shaped = strcmp(o->word, "seed") == 0 || strcmp(o->word, "counter") == 0; /* scalars */
    if (**s != '[') return true;
    o->shaped = true;
    for (++*s; **s != ']';) {
        int64_t size = strtoll(*s, &end, 10);
        if (end == *s || size < 0 || o->shape.rank == MAX_RANK) return false;
        o->shape.size[o->shape.rank++] = size;
        *s = end + strspn(end, ", ");
    }
    ++*s;
    return true;
}

/* One case up to '|' or the end. */
static bool read_case(const char **s, sample_case *k) {
    for (*s += strspn(*s, " "); **s && **s != ';' && **s != '|'; *s += strspn(*s, " ")) {
        if (k->nin == MAX_SAMPLE_OPERANDS) return false;
        if (!read_operand(s, &k->in[k->nin++])) return false;
    }
    if (**s == ';') {
        size_t n = strcspn(++*s, "|");
        if (n >= sizeof k->attrs) return false;
        memcpy(k->attrs, *s, n);
        *s += n;
    }
    return true;
}

int samples_read(const op_info *op, sample_case cases[MAX_SAMPLE_CASES], text *problems) {
    const char *s = op->samples;
    int n = 0;
    for (;; s++) {
        if (n == MAX_SAMPLE_CASES) break;
        cases[n] = (sample_case){0};
        bool fine = read_case(&s, &cases[n]);
        if (fine && op->nin >= 0) fine = cases[n].nin == op->nin;
        if (fine && op->nin < 0) fine = cases[n].nin > 0;
        if (!fine) {
            text_printf(
                problems,
                "%s: case %d of its samples \"%s\" can't be read, or has another number of operands\n",
                op->name, n + 1, op->samples);
            return -1;
        }
        n++;
        if (!*s) break;
    }
    return n;
}

bool sample_fixed(const op_info *op, const sample_operand *o, int operand, dtype *t) {
    bool condition = strcmp(o->word, "bool") == 0 && op->kind != KIND_REDUCE;
    bool mixed = op->kind == KIND_MIXED;
    if (condition) *t = DT_BOOL;
    if (o->bound || strcmp(o->word, "seed") == 0 || strcmp(o->word, "counter") == 0) *t = DT_I64;
    if (mixed) *t = operand ? DT_F64 : DT_I64;
    return condition || mixed || o->bound || strcmp(o->word, "seed") == 0 || strcmp(o->word, "counter") == 0;
}

bool sample_takes(const op_info *op, const sample_operand *o, int operand, dtype t) {
    dtype only;
    if (sample_fixed(op, o, operand, &only)) return t == only;
    return strcmp(o->word, "integer") != 0 || !dtype_is_float(t);
}

bool sample_row_wanted(const op_info *op) {
    const char *row = getenv("TAPEDECK_ROW");
    return !row || !*row || strcmp(row, op->name) == 0;
}

/* parse_mistakes.c — syntax errors that know what was meant: habits from Python and C, a missing operand, a
 * misplaced `else`. Each tells the fix in the language's own words. */
#include <stdio.h>
#include <string.h>

#include "engine/base/unicode.h"
#include "repl/lang/parse_impl.h"

typedef struct word_hint {
    const char *word, *hint;
} word_hint;

static const char *find_word(const parser *p, const token *t, const word_hint *table, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (token_is(p, t, table[i].word)) return table[i].hint;
    return NULL;
}

#define FIND_WORD(p, t, table) find_word((p), (t), (table), sizeof(table) / sizeof((table)[0]))

/* Never names: whoever writes them means the value. */
static const word_hint values[] = {
    {"True", "write true"},      {"False", "write false"},   {"TRUE", "write true"},
    {"FALSE", "write false"},    {"none", "write None"},     {"null", "write None"},
    {"nil", "write None"},       {"NULL", "write None"},     {"undefined", "write None"},
    {"NaN", "write nan"},        {"Inf", "write inf"},       {"elif", "write else if"},
    {"elseif", "write else if"}, {"elsif", "write else if"}, {"pass", "leave it out: { } is an empty block"},
};

/* Words that begin something in another language. They are names here, so they count only when what follows
 * can't follow a name. */
static const word_hint openers[] = {
    {"lambda", "write x -> body, or (x, y) -> body"},
    {"import", "nothing needs importing: functions and files are there by name, load(FILE) reads data"},
    {"from", "nothing needs importing: functions and files are there by name"},
    {"function", "write def f(x) { .. }, or x -> body"},
    {"fn", "write def f(x) { .. }, or x -> body"},
    {"func", "write def f(x) { .. }, or x -> body"},
    {"fun", "write def f(x) { .. }, or x -> body"},
    {"let", "write name = value"},
    {"var", "write name = value"},
    {"const", "write name = value"},
    {"auto", "write name = value"},
    {"int", "write name = value"},
    {"float", "write name = value"},
    {"double", "write name = value"},
    {"local", "names assigned in a function are its own already"},
    {"global", "a function returns what it makes; assign it outside"},
    {"nonlocal", "a function returns what it makes; assign it outside"},
    {"with", "blocks follow tape, on DEVICE and precision(DTYPE) directly: tape { .. }"},
    {"class", "write a record for data: {w: randn(3), b: 0}; and functions over it"},
    {"struct", "write a record: {w: randn(3), b: 0}"},
    {"del", "a name goes when another value is assigned: x = None"},
    {"unless", "write if not (..) { .. }"},
    {"until", "write while not (..) { .. }"},
    {"try",
     "an error ends its statement and leaves every name as it was; there is no catching within the language"},
    {"except",
     "an error ends its statement and leaves every name as it was; there is no catching within the language"},
    {"finally",
     "an error ends its statement and leaves every name as it was; there is no catching within the language"},
    {"yield", "collect the values: stack, concat or a tuple"},
    {"match", "write if a { .. } else if b { .. }"},
    {"switch", "write if a { .. } else if b { .. }"},
    {"loop", "write while true { .. }"},
    {"repeat", "write for i in 0..n { .. }"},
    {"async", "statements run one after the other"},
    {"await", "statements run one after the other"},
    {"raise", "write assert(false, \"message\")"},
    {"throw", "write assert(false, \"message\")"},
    {"end", "blocks end with }"},
    {"then", "a block follows the condition: if c { .. }"},
    {"do", "a block follows the header: while c { .. }"},
};

/* Words that stand between or after values in another language. */
static const word_hint joiners[] = {
    {"is", "write == to compare; x == None tells whether x is None"},
    {"mod", "write % for the remainder"},
    {"div", "write // for the quotient rounded down"},
    {"xor", "write != between booleans"},
    {"then", "a block follows the condition: if c { .. }"},
    {"do", "a block follows the header: while c { .. }"},
    {"to", "write 0..10 for a range"},
};

static const word_hint dtypes[] = {
    {"float", "write f32"},
    {"double", "write f64"},
    {"half", "write f16"},
    {"int", "write i64"},
    {"long", "write i64"},
    {"float64", "write f64"},
    {"float32", "write f32"},
    {"float16", "write f16"},
    {"bfloat16", "write bf16"},
    {"int64", "write i64"},
    {"int32", "write i32"},
    {"int8", "write i8"},
    {"uint8", "write u8"},
    {"byte", "write u8"},
    {"boolean", "write bool"},
    {"Bool", "write bool"},
    {"str", "strings have no dtype; leave the annotation out"},
    {"tensor", "write the dtype, such as f32[?, 64]"},
    {"Tensor", "write the dtype, such as f32[?, 64]"},
};

/* The token's text, cut for a message. */
static int shown(const parser *p, const token *t, const char **begin) {
    *begin = p->content + t->begin;
    return (int)utf8_cut(*begin, t->end - t->begin, 40);
}

/* Whether `t` begins a value, which can't follow another value directly. */
static bool begins_value(const token *t) {
    switch (t->kind) {
    case TOKEN_NAME:
    case TOKEN_DTYPE:
    case TOKEN_INT:
    case TOKEN_REAL:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_NONE:
        return true;
    default:
        return false;
    }
}

static bool say(parser *p, int number, const token *t, const char *message, const char *hint) {
    mistake(p, number, token_span(p, t), "%s", message);
    fail_hint(p->e, "%s", hint);
    return true;
}

bool foreign_word(parser *p, const token *t) {
    const token *after = t + 1; /* never past the end: TOKEN_END is last */
    const token *before = previous(p);
    bool first = !before || before->kind == TOKEN_NEWLINE || before->kind == TOKEN_SEMICOLON ||
                 (before->kind == TOKEN_LBRACE && !before->record);
    bool header =
        (after->kind == TOKEN_LBRACE || after->kind == TOKEN_COLON) && (first || token_is(p, t, "lambda"));
    const char *begin, *hint = FIND_WORD(p, t, values);
    if (!hint && (begins_value(after) || after->kind == TOKEN_NOT || header)) hint = FIND_WORD(p, t, openers);
    if (!hint) return false;
    int length = shown(p, t, &begin);
    mistake(p, E_FOREIGN_WORD, token_span(p, t), "`%.*s` is not a word of the language", length, begin);
    fail_hint(p->e, "%s", hint);
    return true;
}

ast_node *explain_dtype(parser *p, const token *t) {
    if (t->kind == TOKEN_FAULT || t->kind == TOKEN_END) return unexpected(p, WANT_TOKEN, "a dtype");
    const char *begin, *hint = FIND_WORD(p, t, dtypes);
    int length = shown(p, t, &begin);
    if (t->kind == TOKEN_NAME)
        mistake(p, E_DTYPE_WANTED, token_span(p, t), "`%.*s` is not a dtype", length, begin);
    else
        mistake(p, E_DTYPE_WANTED, token_span(p, t), "expected a dtype, found %s",
                token_kind_text((token_kind)t->kind));
    fail_hint(p->e, "%s", hint ? hint : "the dtypes are f64 f32 f16 bf16 i64 i32 i8 u8 bool");
    return NULL;
}

/* --- `&` and `|` beside comparisons --- */

static bool is_bits(const ast_node *node) {
    return node->kind == AST_CHAIN && !(node->flags & AST_PARENS) &&
           (node->ops[0] == AST_BITAND || node->ops[0] == AST_BITOR);
}

/* A sum of texts in a fixed buffer; one that does not fit is given up. */
typedef struct phrase {
    char text[240];
    size_t length;
    bool cut;
} phrase;

static void phrase_add(phrase *f, const char *bytes, size_t length) {
    f->cut = f->cut || length >= sizeof f->text - f->length || memchr(bytes, '\n', length);
    if (f->cut) return;
    memcpy(f->text + f->length, bytes, length);
    f->length += length;
    f->text[f->length] = '\0';
}

static void phrase_span(phrase *f, const parser *p, uint32_t begin, uint32_t end) {
    phrase_add(f, p->content + begin, end - begin);
}

/* Puts the parentheses into the text of a comparison's operands: those of `&` and `|` separate, what is
 * joined by comparisons belongs together. */
static void parenthesise(phrase *f, const parser *p, uint32_t mark) {
    uint32_t begin = p->stack[mark].node->where.begin, end = begin; /* of the group so far */
    bool compared = false;                                          /* it has a comparison in it */
    for (uint32_t i = mark; i < p->top; i++) {
        const ast_node *operand = p->stack[i].node;
        uint32_t parts = is_bits(operand) ? operand->count : 1;
        for (uint32_t j = 0; j < parts; j++) {
            const ast_node *part = parts == 1 ? operand : operand->child[j];
            if (j == 0) {
                compared = compared || i > mark;
                end = part->where.end;
                continue;
            }
            phrase_add(f, "(", compared ? 1 : 0);
            phrase_span(f, p, begin, end);
            phrase_add(f, ")", compared ? 1 : 0);
            phrase_span(f, p, end, part->where.begin);
            begin = part->where.begin, end = part->where.end;
            compared = j == parts - 1 && i + 1 < p->top;
        }
    }
    phrase_add(f, "(", compared ? 1 : 0);
    phrase_span(f, p, begin, end);
    phrase_add(f, ")", compared ? 1 : 0);
}

ast_node *explain_after_cast(parser *p, const ast_node *cast) {
    const token *t = peek(p), *last = t + 1; /* the last token of the example */
    if (t->partner > 0) last = &p->tokens.items[t->partner];
    bool spaced = t->kind == TOKEN_POWER;
    mistake(p, E_AFTER_CAST, token_span(p, t), "%s after a cast needs parentheses around the cast",
            token_kind_text((token_kind)t->kind));
    phrase f = {.length = 0};
    phrase_add(&f, "(", 1);
    phrase_span(&f, p, cast->where.begin, cast->where.end);
    phrase_add(&f, ") ", spaced ? 2 : 1);
    phrase_span(&f, p, t->begin, last->end);
    if (f.cut)
        fail_hint(p->e, "write (x as %s)%s", cast->text, spaced ? " ** y" : "[i]");
    else
        fail_hint(p->e, "write %s", f.text);
    return NULL;
}

bool bits_beside_comparison(parser *p, uint32_t mark, span where) {
    const ast_node *bits = NULL;
    for (uint32_t i = mark; i < p->top && !bits; i++)
        if (is_bits(p->stack[i].node)) bits = p->stack[i].node;
    if (!bits) return false;
    const char *sign = ast_op_text((ast_op)bits->ops[0]);
    mistake(p, E_BITS_BESIDE_COMPARISON, where,
            "`%s` binds tighter than comparisons: which is meant needs parentheses", sign);
    phrase f = {.length = 0};
    parenthesise(&f, p, mark);
    if (f.cut)
        fail_hint(p->e, "put each comparison in parentheses: (a > 0) %s (b > 0)", sign);
    else
        fail_hint(p->e, "write %s", f.text);
    return true;
}

/* --- tokens that can't stand where they do --- */

/* An operator, of which an operand is missing. */
static bool joins_values(token_kind kind) {
    return (kind >= TOKEN_PLUS && kind <= TOKEN_GE) || kind == TOKEN_DOTS || kind == TOKEN_AND ||
           kind == TOKEN_OR || kind == TOKEN_AS || kind == TOKEN_NOT;
}

/* `x++` */
static bool counter(parser *p, const token *before) {
    bool twice = p->at >= 2 && before->kind == before[-1].kind && !before->spaced &&
                 (before->kind == TOKEN_PLUS || before->kind == TOKEN_MINUS);
    if (!twice) return false;
    p->ran_out = false;
    char sign = before->kind == TOKEN_PLUS ? '+' : '-';
    mistake(p, E_FOREIGN_OPERATOR, (span){p->source, before[-1].begin, before->end},
            "there is no operator `%c%c`", sign, sign);
    fail_hint(p->e, "write x %c= 1", sign);
    return true;
}

/* `t` stands where a value should. */
static bool missing_value(parser *p, const token *t) {
    const token *before = previous(p);
    const char *sign = token_kind_text((token_kind)t->kind);
    bool joins = joins_values((token_kind)t->kind);
    if (t->kind == TOKEN_NOT)
        return say(p, E_NOT_INSIDE, t, "`not` binds looser than the operator before it",
                   "write (not x), or ~x element by element");
    if (before && joins_values((token_kind)before->kind)) {
        if (counter(p, before)) return true;
        mistake(p, E_OPERAND_MISSING, token_span(p, before), "a value is missing after %s",
                token_kind_text((token_kind)before->kind));
        if (joins) fail_hint(p->e, "%s can't stand directly after it", sign);
        return true;
    }
    if (!joins) return false;
    mistake(p, E_OPERAND_MISSING, token_span(p, t), "a value is missing before %s", sign);
    if (before && before->kind == TOKEN_NEWLINE)
        fail_hint(p->e, "to go on from the line above, end that one with %s", sign);
    else if (t->kind == TOKEN_STAR || t->kind == TOKEN_POWER)
        fail_hint(p->e, "arguments are written out one by one");
    return true;
}

#define STRING_HINT "strings are written without letters before them; print(\"x is\", x) shows values"

/* Two values side by side: `print x`, `2 x`, `[1 2]`. */
static bool touching_values(parser *p, const token *t, want wanted) {
    const token *before = previous(p);
    const char *begin, *hint = FIND_WORD(p, t, joiners);
    if (hint) return say(p, E_FOREIGN_WORD, t, "this word can't stand between two values", hint);
    if (!before) return false;
    int length = shown(p, t, &begin);
    if (t->kind == TOKEN_STRING && before->kind == TOKEN_NAME && before->end == t->begin) {
        mistake(p, E_STATEMENTS_TOUCH, token_span(p, t), "a string can't stand right behind a name");
        fail_hint(p->e, "%s",
                  *begin == '\'' && !token_is(p, before, "f") ? "for the transpose, write x.T" : STRING_HINT);
        return true;
    }
    if (wanted == WANT_NEXT) {
        mistake(p, E_STATEMENTS_TOUCH, token_span(p, t), "a comma or an operator is missing before `%.*s`",
                length, begin);
        fail_hint(p->e, "elements and arguments stand with commas between them: [1, 2, 3]");
        return true;
    }
    if (before->kind == TOKEN_RBRACE)
        return say(p, E_STATEMENTS_TOUCH, t, "between two statements stands `;` or a new line",
                   "write `;` after the `}`");
    if (!begins_value(before) && before->kind != TOKEN_RPAREN && before->kind != TOKEN_RBRACKET) return false;
    mistake(p, E_STATEMENTS_TOUCH, token_span(p, t), "an operator is missing before `%.*s`", length, begin);
    if (before->kind == TOKEN_NAME)
        fail_hint(p->e, "to call a function, write %.*s(%.*s); between statements stands `;` or a new line",
                  (int)utf8_cut(p->content + before->begin, before->end - before->begin, 40),
                  p->content + before->begin, length, begin);
    else
        fail_hint(p->e, "for a product, write *; between statements stands `;` or a new line");
    return true;
}

static bool misplaced_colon(parser *p, const token *t, want wanted) {
    const token *before = previous(p);
    if (wanted == WANT_NEXT)
        return say(p, E_UNEXPECTED, t, "this `:` can't stand here",
                   "a slice has at most three parts, begin:end:step; arguments are named with =");
    bool line =
        wanted == WANT_VALUE && before &&
        (before->kind == TOKEN_NEWLINE || before->kind == TOKEN_SEMICOLON || before->kind == TOKEN_LBRACE);
    if (line)
        return say(p, E_COMMAND_PLACE, t, "a command starts a line of its own, outside of all blocks",
                   "close the block before, and write the command on a new line");
    bool annotated = before && before->kind == TOKEN_NAME && peek_at(p, 1)->kind == TOKEN_DTYPE;
    return say(p, E_UNEXPECTED, t, "`:` stands only in indices, records and parameters",
               annotated ? "only parameters are annotated; write x = value as f32 for a cast"
                         : "slices stand in [ ]; blocks stand in { }");
}

static bool misplaced_assign(parser *p, const token *t, want wanted) {
    if (wanted == WANT_BLOCK)
        return say(p, E_ASSIGN_INSIDE, t, "`=` assigns; a condition compares", "write ==");
    if (wanted == WANT_NEXT)
        return say(p, E_ASSIGN_INSIDE, t,
                   "`=` can't stand here: only a plain name before it names an argument",
                   "to compare, write ==; an assignment is a statement of its own");
    return say(p, E_ASSIGN_INSIDE, t, "an assignment is a statement and has no value",
               "to compare, write ==");
}

static bool misplaced_comma(parser *p, const token *t, want wanted) {
    if (wanted == WANT_VALUE)
        return say(p, E_UNEXPECTED, t, "a value is missing before this `,`",
                   "leave the comma out, or write the value");
    if (wanted == WANT_BLOCK || wanted == WANT_END || wanted == WANT_TOKEN)
        return say(p, E_BARE_TUPLE, t, "a tuple needs parentheses here", "write (a, b)");
    return false;
}

static bool misplaced_else(parser *p, const token *t) {
    const token *before = previous(p);
    if (before && before->kind == TOKEN_NEWLINE)
        return say(p, E_ELSE_ALONE, t, "`else` stands on the line of the `}` before it",
                   "write } else { in one line");
    return say(p, E_ELSE_ALONE, t, "this `else` belongs to no `if`", "write if c { a } else { b }");
}

/* Signs and words that have one place only. */
static bool misplaced_sign(parser *p, const token *t, want wanted) {
    switch (t->kind) {
    case TOKEN_COLON:
        return misplaced_colon(p, t, wanted);
    case TOKEN_ASSIGN:
    case TOKEN_ADD_ASSIGN:
    case TOKEN_SUB_ASSIGN:
    case TOKEN_MUL_ASSIGN:
    case TOKEN_DIV_ASSIGN:
        return misplaced_assign(p, t, wanted);
    case TOKEN_COMMA:
        return misplaced_comma(p, t, wanted);
    case TOKEN_SEMICOLON:
        if (wanted != WANT_NEXT) return false;
        return say(p, E_UNEXPECTED, t, "`;` separates statements, not rows or arguments",
                   "rows are elements in brackets of their own: [[1, 2], [3, 4]]");
    case TOKEN_QUESTION:
        return say(p, E_UNEXPECTED, t, "`?` stands only in types",
                   "for a choice, write if c { a } else { b }");
    case TOKEN_ARROW:
        if (wanted == WANT_BLOCK)
            return say(p, E_UNEXPECTED, t, "a function says nothing about its result in front of its body",
                       "leave the `->` and what follows it out");
        return say(p, E_LAMBDA_PARENS, t, "a function needs parentheses here",
                   "write (x -> ..), with two parameters ((x, y) -> ..)");
    case TOKEN_DOTS3:
        return say(p, E_UNEXPECTED, t, "`...` stands only in indices and types",
                   "ranges have two dots: 0..10");
    default:
        return false;
    }
}

static bool misplaced_word(parser *p, const token *t, want wanted) {
    switch (t->kind) {
    case TOKEN_ELSE:
        return misplaced_else(p, t);
    case TOKEN_IF:
        if (wanted == WANT_VALUE) return false;
        return say(p, E_STATEMENTS_TOUCH, t, "`if` can't follow a value", "write if c { a } else { b }");
    case TOKEN_IN:
        return say(p, E_UNEXPECTED, t, "`in` stands only in `for`", "for membership, write any(x == value)");
    case TOKEN_NOT:
        if (wanted == WANT_VALUE || peek_at(p, 1)->kind != TOKEN_IN) return false;
        return say(p, E_UNEXPECTED, t, "there is no operator `not in`",
                   "for membership, write not any(x == value)");
    case TOKEN_FOR:
        if (wanted == WANT_NEXT)
            return say(
                p, E_UNEXPECTED, t, "a loop can't stand within brackets",
                "write the expression for the whole tensor: arange(n) ** 2; map(f, t) goes over tuples");
        /* fall through */
    case TOKEN_DEF:
    case TOKEN_WHILE:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
    case TOKEN_RETURN:
        return say(p, wanted == WANT_VALUE ? E_UNEXPECTED : E_STATEMENTS_TOUCH, t,
                   "this begins a statement, which can't stand here",
                   "put it on a line of its own, or between { }");
    default:
        return false;
    }
}

bool explain_unexpected(parser *p, want wanted) {
    const token *t = peek(p);
    bool reserved = t->kind == TOKEN_DTYPE || (t->kind >= TOKEN_DEF && t->kind <= TOKEN_NONE);
    if (wanted == WANT_NAME && reserved) {
        const char *begin;
        int length = shown(p, t, &begin);
        mistake(p, E_NAME_WANTED, token_span(p, t), "`%.*s` is a word of the language and can't be a name",
                length, begin);
        fail_hint(p->e, "choose another name");
        return true;
    }
    if (misplaced_sign(p, t, wanted) || misplaced_word(p, t, wanted)) return true;
    if (wanted == WANT_VALUE) return missing_value(p, t);
    if (wanted == WANT_BLOCK) {
        if (t->kind != TOKEN_END && t->kind != TOKEN_NEWLINE && !begins_value(t)) return false;
        const char *hint = FIND_WORD(p, t, joiners);
        if (hint) return say(p, E_FOREIGN_WORD, t, "this word has no place here", hint);
        mistake(p, E_BLOCK_WANTED, error_span(p, t), "a block in braces is missing here");
        fail_hint(p->e, "write { .. } on the same line");
        return true;
    }
    return (wanted == WANT_NEXT || wanted == WANT_END) && begins_value(t) ? touching_values(p, t, wanted)
                                                                          : false;
}

/* lex_mistakes.c — characters and operators that are not in the language but in people's fingers: what to
 * write instead. */
#include <string.h>

#include "engine/base/unicode.h"
#include "repl/lang/lexer_impl.h"
#include "repl/lang/syntax_errors.h"

typedef struct mistake {
    const char *spelled, *hint;
} mistake;

/* Operators of other languages; longer ones before their prefixes. */
static const mistake operators[] = {
    {"===", "write == for equality"},
    {"!==", "write != for inequality"},
    {"**=", "write x = x ** y"},
    {"//=", "write x = x // y"},
    {"%=", "write x = x % y"},
    {"@=", "write x = x @ y"},
    {"&=", "write x = x & y"},
    {"|=", "write x = x | y"},
    {"^=", "write x = x ** y for a power"},
    {"&&", "write `and` for conditions, `&` element by element"},
    {"||", "write `or` for conditions, `|` element by element"},
    {":=", "write = for an assignment, as a statement of its own"},
    {"=>", "write -> for a function, >= for at least"},
    {"<>", "write != for unequal"},
    {".^", "write ** for a power; operators go element by element without a point"},
    {".**", "operators go element by element without a point: x ** y"},
    {".*", "operators go element by element without a point: x * y"},
    {"./", "operators go element by element without a point: x / y"},
    {".+", "operators go element by element without a point: x + y"},
    {".-", "operators go element by element without a point: x - y"},
    {".==", "operators go element by element without a point: x == y"},
    {".<", "operators go element by element without a point: x < y"},
    {".>", "operators go element by element without a point: x > y"},
    {".(", "functions go element by element without a point: f(x)"},
    {"^", "write ** for a power"},
};

/* Characters that look like, or stand for, something of the language. */
static const mistake characters[] = {
    {"\xe2\x80\x9c", "write a plain \""}, /* left double quotation mark */
    {"\xe2\x80\x9d", "write a plain \""}, /* right double quotation mark */
    {"\xe2\x80\x9e", "write a plain \""}, /* low double quotation mark */
    {"\xc2\xab", "write a plain \""},     /* guillemets */
    {"\xc2\xbb", "write a plain \""},
    {"\xe2\x80\x98", "write a plain '"}, /* single quotation marks */
    {"\xe2\x80\x99", "write a plain '"},
    {"\xe2\x80\x9a", "write a plain '"},
    {"\xc2\xb4", "write a plain '"}, /* acute accent */
    {"`", "write ' or \" around strings; names need no quotes"},
    {"\xe2\x88\x92", "write a plain -"},        /* minus sign */
    {"\xe2\x80\x93", "write a plain -"},        /* en dash */
    {"\xe2\x80\x94", "write a plain -"},        /* em dash */
    {"\xe2\x80\x90", "write a plain -"},        /* hyphen */
    {"\xe2\x80\x91", "write a plain -"},        /* no-break hyphen */
    {"\xc3\x97", "write * for a product"},      /* multiplication sign */
    {"\xc2\xb7", "write * for a product"},      /* middle dot */
    {"\xe2\x8b\x85", "write * for a product"},  /* dot operator */
    {"\xe2\x88\x97", "write * for a product"},  /* asterisk operator */
    {"\xc3\xb7", "write / for a quotient"},     /* division sign */
    {"\xe2\x88\x95", "write / for a quotient"}, /* division slash */
    {"\xe2\x89\xa4", "write <="},
    {"\xe2\x89\xa5", "write >="},
    {"\xe2\x89\xa0", "write !="},
    {"\xe2\x86\x92", "write -> for a function"},
    {"\xe2\x80\xa6", "write three dots: ..."},
    {"\xe2\x88\x9e", "write inf"},
    {"\xe2\x88\x9a", "write sqrt(x)"},
    {"\xe2\x88\x91", "write sum(x)"},
    {"\xe2\x88\x8f", "write prod(x)"},
    {"\xe2\x88\x87", "write grad(f)"},
    {"\xc2\xac", "write `not` for conditions, `~` element by element"},
    {"\xe2\x88\xa7", "write `and` for conditions, `&` element by element"},
    {"\xe2\x88\xa8", "write `or` for conditions, `|` element by element"},
    {"\xc2\xb2", "write ** 2"},
    {"\xc2\xb3", "write ** 3"},
    {"\xc2\xbd", "write 0.5"},
    {"\xef\xbc\x88", "write a plain ("}, /* fullwidth forms */
    {"\xef\xbc\x89", "write a plain )"},
    {"\xef\xbc\x8c", "write a plain ,"},
    {"\xef\xbc\x9a", "write a plain :"},
    {"\xef\xbc\x9b", "write a plain ;"},
    {"\xef\xbc\x9d", "write a plain ="},
    {"\xef\xbc\x8b", "write a plain +"},
    {"\xef\xbc\x8a", "write a plain *"},
    {"\xef\xbc\x8f", "write a plain /"},
    {"\xc2\xa0", "write a plain space"},     /* no-break space */
    {"\xe2\x80\xaf", "write a plain space"}, /* narrow no-break space */
    {"\xe2\x80\x89", "write a plain space"}, /* thin space */
    {"\xe3\x80\x80", "write a plain space"}, /* ideographic space */
    {"\xe2\x80\x8b", "delete it"},           /* zero width space */
    {"\xef\xbb\xbf", "delete it"},           /* byte order mark within the text */
    {"$", "names are letters, digits and `_`"},
};

static bool starts_with(const lexer *x, const char *word) {
    if (lex_peek(x, 0) != word[0]) return false;
    size_t length = strlen(word);
    return x->end - x->at >= length && memcmp(x->content + x->at, word, length) == 0;
}

bool lex_mistaken_operator(lexer *x) {
    if (!strchr("=!*/%@&|^:<.", lex_peek(x, 0))) return false;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        const char *spelled = operators[i].spelled;
        if (!starts_with(x, spelled)) continue;
        uint32_t end = x->at + (uint32_t)strlen(spelled);
        lex_fault(x, E_FOREIGN_OPERATOR, x->at, end, "there is no operator `%s`", spelled);
        fail_hint(&x->list->fault, "%s", operators[i].hint);
        return true;
    }
    return false;
}

void lex_mistaken_character(lexer *x) {
    uint32_t code;
    size_t bytes = utf8_decode(x->content + x->at, x->end - x->at, &code);
    error *fault = &x->list->fault;
    if (bytes == 0) {
        lex_fault(x, E_UTF8, x->at, x->at + 1, "the byte 0x%02x is not UTF-8", (unsigned)code);
        fail_hint(fault, "save the file as UTF-8");
        return;
    }
    uint32_t end = x->at + (uint32_t)bytes;
    if (code == '\\') {
        lex_fault(x, E_LINE_CONTINUED, x->at, end, "`\\` stands only in strings");
        fail_hint(fault, "to go on in the next line, end this one with an operator or put ( ) around");
        return;
    }
    if (code == '!') {
        lex_fault(x, E_FOREIGN_OPERATOR, x->at, end, "there is no operator `!`");
        fail_hint(fault, "write `not` for conditions, `~` element by element");
        return;
    }
    bool shown = code > 0x20 && (code < 0x7f || code > 0xa0) && unicode_width(code) > 0 && code != 0x3000 &&
                 !(code >= 0x2000 && code <= 0x200f) && code != 0x202f;
    if (shown)
        lex_fault(x, E_CHARACTER, x->at, end, "the character `%.*s` (U+%04X) is not in the language",
                  (int)bytes, x->content + x->at, (unsigned)code);
    else
        lex_fault(x, E_CHARACTER, x->at, end, "the character U+%04X is not in the language", (unsigned)code);
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++)
        if (starts_with(x, characters[i].spelled)) fail_hint(fault, "%s", characters[i].hint);
    if (!fault->hint[0])
        fail_hint(fault, "outside of strings and comments: letters, digits, `_` and operators");
}

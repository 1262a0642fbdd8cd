/* cmd_why.c — :why, what a frozen graph was specialised for. */
#include <string.h>

#include "repl/lang/freeze.h"
#include "repl/shell/commands.h"

status cmd_why(shell *sh, const char *args) {
    if (*args == '\0') return command_usage(sh, "why");
    value v = {0};
    if (command_evaluate(sh, args, strlen(args), &v)) return sh->c->err.code;
    text out = {0};
    char what[160];
    status code = STATUS_OK;
    if (v.kind == VALUE_GRAPH)
        frozen_why(v.graph, &out);
    else
        code = fail(&sh->c->err, STATUS_TYPE, 809, "`:why` explains a frozen graph, and this is %s",
                    value_describe(v, what, sizeof what));
    value_release(v);
    if (code == STATUS_OK) code = shell_results(sh, &out);
    text_free(&out);
    return code;
}

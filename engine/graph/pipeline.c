/* pipeline.c — the passes in order, verified after each in debug builds. */
#include "engine/graph/passes.h"

const pass_info pass_list[] = {
    {"fold", "ops on constants are computed", pass_fold},
    {"simplify", "identities that hold bit for bit", pass_simplify},
    {"cse", "equal pure nodes become one", pass_cse},
    {"dce", "what nothing needs is dropped", pass_dce},
    {0},
};

static status checked(const graph *g) {
#ifdef NDEBUG
    (void)g;
    return STATUS_OK;
#else
    return graph_verify(g);
#endif
}

status pipeline_run(const graph *g, graph **out,
                    void (*observe)(void *user, const char *pass, const graph *g), void *user) {
    const graph *at = g;
    graph *owned = NULL;
    if (observe) observe(user, "traced", g);
    status code = checked(g);
    for (const pass_info *p = pass_list; !code && p->name; p++) {
        graph *next = NULL;
        code = p->run(at, &next);
        graph_free(owned);
        owned = next;
        at = next;
        if (!code) code = checked(next);
        if (!code && observe) observe(user, p->name, next);
    }
    if (code)
        graph_free(owned);
    else
        *out = owned;
    return code;
}

/* limits.c — see calibration.h: looking rates up, and the file that keeps them. */
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "profiler/calibration.h"

const int64_t limits_level_bytes[LIMIT_LEVELS] = {192 << 10, 3 << 20, 24 << 20, 192 << 20};
enum { FILE_MOST = 1 << 16, LEARN_NS = 20000 };

double limits_memory_rate(const machine_limits *m, double bytes) {
    for (int i = 0; i < LIMIT_LEVELS; i++)
        if (bytes <= (double)m->memory[i].bytes) return m->memory[i].rate;
    return m->memory[LIMIT_LEVELS - 1].rate;
}

bool limits_learn(machine_limits *m, const recording *r) {
    bool learnt = false;
    for (uint32_t i = 0; i < r->count; i++) {
        const recorded *e = &r->events[i];
        int64_t ns = e->end - e->begin;
        if (ns < LEARN_NS || e->lane != 0 || e->kind == EVENT_SPAN) continue;
        double rate = (double)e->flops * 1e9 / (double)ns;
        if (rate <= m->flops) continue;
        m->flops = rate;
        learnt = true;
    }
    return learnt;
}

/* ---- the kept file ---- */

static bool positive(const cJSON *object, const char *name, double *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item) || !(item->valuedouble > 0)) return false;
    *out = item->valuedouble;
    return true;
}

static bool limits_decode(const cJSON *json, const machine_limits *want, machine_limits *out) {
    double version, lanes;
    const cJSON *processor = cJSON_GetObjectItemCaseSensitive(json, "processor");
    const cJSON *memory = cJSON_GetObjectItemCaseSensitive(json, "memory");
    if (!positive(json, "version", &version) || version != 1 || !positive(json, "lanes", &lanes))
        return false;
    if (!cJSON_IsString(processor) || strcmp(processor->valuestring, want->processor) != 0) return false;
    if (lanes != want->lanes || cJSON_GetArraySize(memory) != LIMIT_LEVELS) return false;
    *out = *want;
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        const cJSON *level = cJSON_GetArrayItem(memory, i);
        double bytes;
        if (!positive(level, "bytes", &bytes) || !positive(level, "rate", &out->memory[i].rate)) return false;
        if (bytes != (double)limits_level_bytes[i]) return false;
        out->memory[i].bytes = limits_level_bytes[i];
    }
    return positive(json, "flops", &out->flops);
}

bool limits_load(const char *path, const machine_limits *want, machine_limits *out) {
    FILE *f = fopen(path, "re");
    char *data = f ? mem_alloc(FILE_MOST) : NULL;
    size_t length = data ? fread(data, 1, FILE_MOST - 1, f) : 0;
    if (f) fclose(f);
    if (!data) return false;
    data[length] = '\0';
    cJSON *json = cJSON_Parse(data);
    mem_free(data);
    machine_limits m;
    bool fine = json && limits_decode(json, want, &m);
    cJSON_Delete(json);
    if (fine) *out = m;
    return fine;
}

static cJSON *limits_encode(const machine_limits *m) {
    cJSON *json = cJSON_CreateObject();
    bool fine = cJSON_AddNumberToObject(json, "version", 1) != NULL;
    fine = fine && cJSON_AddStringToObject(json, "processor", m->processor);
    fine = fine && cJSON_AddNumberToObject(json, "lanes", m->lanes);
    fine = fine && cJSON_AddNumberToObject(json, "flops", m->flops);
    cJSON *memory = fine ? cJSON_AddArrayToObject(json, "memory") : NULL;
    fine = fine && memory;
    for (int i = 0; fine && i < LIMIT_LEVELS; i++) {
        cJSON *level = cJSON_CreateObject();
        if (!(fine = level && cJSON_AddItemToArray(memory, level))) cJSON_Delete(level);
        fine = fine && cJSON_AddNumberToObject(level, "bytes", (double)m->memory[i].bytes);
        fine = fine && cJSON_AddNumberToObject(level, "rate", m->memory[i].rate);
    }
    if (fine) return json;
    cJSON_Delete(json);
    return NULL;
}

bool limits_save(const char *path, const machine_limits *m) {
    cJSON *json = limits_encode(m);
    char *data = json ? cJSON_Print(json) : NULL;
    cJSON_Delete(json);
    error ignored = {0};
    bool fine = data && replace_file(path, data, strlen(data), &ignored) == STATUS_OK;
    cJSON_free(data);
    return fine;
}

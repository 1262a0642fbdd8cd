/* calibration.h — what this machine can do: the rates that times are held against.
 *
 * Measured on the machine with all lanes of the context's pool, in less than a second, and kept in
 * ${XDG_CACHE_HOME:-~/.cache}/tapedeck, one file for each processor and number of lanes. */
#ifndef TD_PROFILER_CALIBRATION_H
#define TD_PROFILER_CALIBRATION_H

#include "profiler/trace.h"

enum { LIMIT_LEVELS = 4 };
extern const int64_t limits_level_bytes[LIMIT_LEVELS]; /* at which memory is measured */

typedef struct machine_limits {
    char processor[96]; /* "AMD EPYC 9B14" */
    int lanes;
    /* Bytes per second of a triad (two arrays read, one written) by the bytes that it touches, small to
     * large: data that fits into a cache moves faster than memory can deliver. */
    struct {
        int64_t bytes;
        double rate;
    } memory[LIMIT_LEVELS];
    double flops; /* per second, of an f32 matrix product */
} machine_limits;

/* The kept limits, or newly measured ones, which are then kept. A folder that can't be written only means
 * that the next session measures again. */
status limits_get(context *c, machine_limits *out);

/* Measures, without looking at what is kept. */
status limits_measure(context *c, machine_limits *out);

/* What a recording shows to be possible is no longer beyond the limit: raises m->flops where an event of some
 * length computed faster, as happens when the machine was busy while it was measured. True when it did. */
bool limits_learn(machine_limits *m, const recording *r);
/* Keeps m for the next session, as limits_get does. */
void limits_keep(const machine_limits *m);

/* Bytes per second that can be reached by a launch that touches `bytes` bytes: the rate of the smallest level
 * that holds them. */
double limits_memory_rate(const machine_limits *m, double bytes);

/* Reading and writing the kept file (JSON). Load fails without an error when the file is not there, was made
 * on another processor or with other lanes (`want` says which), or does not make sense. */
bool limits_load(const char *path, const machine_limits *want, machine_limits *out);
bool limits_save(const char *path, const machine_limits *m);

#endif

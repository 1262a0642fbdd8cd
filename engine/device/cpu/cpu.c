/* cpu.c — the CPU as a device: what device.h asks for, by way of this folder's files. */
#include "engine/device/cpu/gemm.h"

const device device_cpu = {.name = "cpu", .matmul = gemm_run};

// The runtime of raceproof's cpu back end: CUDA for a C++17 compiler, with every access logged.
//
// A program that raceproof instrumented includes this and nothing else of CUDA; the headers of CUDA that it includes by
// name are small files beside this one that include it again.
#pragma once

#include "words.hpp"
#include "vectors.hpp"
#include "switch.hpp"
#include "fiber.hpp"
#include "report.hpp"
#include "memory.hpp"
#include "plan.hpp"
#include "cluster.hpp"
#include "launch.hpp"
#include "worker.hpp"
#include "turns.hpp"
#include "schedule.hpp"
#include "warp.hpp"
#include "access.hpp"
#include "crash.hpp"
#include "change_points.hpp"
#include "kernel.hpp"
#include "barriers.hpp"
#include "cluster_functions.hpp"
#include "warp_intrinsics.hpp"
#include "atomics.hpp"
#include "objects.hpp"
#include "device_math.hpp"
#include "intrinsics.hpp"
#include "annotations.hpp"
#include "api_types.hpp"
#include "api_memory.hpp"
#include "textures.hpp"
#include "api_device.hpp"

// Two barriers on one line are two: each that is written has a number of its own.
#define __syncthreads() __syncthreads_at(__COUNTER__ + 1)

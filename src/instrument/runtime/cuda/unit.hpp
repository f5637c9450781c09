// What a unit tells the host's half of the runtime before main: its tables, and where its constants are.
#pragma once

#include "ring.hpp"

// Of a unit of instrumented text. The texts are its tables: of sites, of kernels with their parameters, of shared arrays.
struct RaceproofUnit {
    const char* sites;
    const char* kernels;
    const char* shared;
    unsigned long first_site;
    const void* context;   // the host's name of its constants
};

extern "C" void raceproof_register_unit(const RaceproofUnit* unit);

namespace raceproof_cuda {

namespace {

struct unit {
    unit(const char* sites, const char* kernels, const char* shared) {
#ifndef RACEPROOF_PLAIN
        static RaceproofUnit mine{sites, kernels, shared, RACEPROOF_FIRST_SITE, &context};
        raceproof_register_unit(&mine);
#else
        (void)sites, (void)kernels, (void)shared;
#endif
    }
};

}  // namespace

}  // namespace raceproof_cuda

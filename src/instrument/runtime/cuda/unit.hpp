// The tables of an instrumented unit, told before main, with the place of its constants.
#pragma once

#include "registration.hpp"
#include "ring.hpp"

namespace raceproof_cuda {

namespace {

struct unit {
    unit(const char* sites, const char* kernels, const char* shared, const char* left_out) {
#ifndef RACEPROOF_PLAIN
        static RaceproofUnit mine = {RACEPROOF_TEXT(RACEPROOF_MADE_FOR), sites, kernels, shared, left_out, &context};
        raceproof_register_unit(&mine);
#else
        (void)sites, (void)kernels, (void)shared, (void)left_out;
#endif
    }
};

}  // namespace

}  // namespace raceproof_cuda

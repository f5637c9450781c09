// What stands before the text of a unit whose device code is not logged, so that the log can say so.
#pragma once

#include "registration.hpp"

namespace raceproof_cuda {

namespace {

struct unlogged {
    explicit unlogged(const char* what) {
        static RaceproofUnit mine = {RACEPROOF_TEXT(RACEPROOF_MADE_FOR), "", "", "", what, 0};
        raceproof_register_unit(&mine);
    }
};

}  // namespace

}  // namespace raceproof_cuda

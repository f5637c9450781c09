// What a unit tells the host's half of the runtime before main. Plain C++ of any standard: it also stands in units whose
// device code is not logged, whose text is otherwise the user's.
//
// The tables are texts in the object of the unit, and travel with it, through libraries, into any program.
#pragma once

// Which runtime a unit was compiled for. Units of one program have the same.
#ifndef RACEPROOF_MADE_FOR
#define RACEPROOF_MADE_FOR no_other
#endif
#define RACEPROOF_TEXT_OF(words) #words
#define RACEPROOF_TEXT(words) RACEPROOF_TEXT_OF(words)

struct RaceproofUnit {
    const char* made_for;
    const char* sites;       // a line for each site; numbers count from 0
    const char* kernels;     // for each kernel its name and those of its parameters
    const char* shared;      // names of shared arrays
    const char* left_out;    // a line for each place of device code that is not logged
    const void* context;     // the host's name of its constants; of a unit that is not logged none
};

extern "C" void raceproof_register_unit(const RaceproofUnit* unit);

// A run of a program: what units and the CUDA runtime tell before main, and every launch with its log.
//
// Launches run one at a time and to their end before the next line of host code, as the log has them: a kernel that
// waits for the host or for another kernel is not for this back end.
//
// Where RACEPROOF_LAUNCH_SECONDS names a file, what all launches took together, their logs included, is written into it
// when the program ends; without a log, too, so that the two can be compared.
//
// RACEPROOF_LOG names the log. Where it is not set, the log is PROGRAM.trace in the working directory, which is told; where
// it is empty, there is none.
#pragma once

#include <cerrno>

#include "drain.hpp"
#include "registration.hpp"

namespace raceproof_cuda {

class Session {
public:
    static Session& the() {
        static Session* session = new Session;   // never destroyed: it is needed until the process is gone
        return *session;
    }

    // Before main, or when a library is loaded; not while a launch reads the tables.
    void add_unit(const RaceproofUnit& unit) {
        std::lock_guard<std::mutex> nothing_runs(launching);
        std::lock_guard<std::mutex> guard(lock);
        if (std::strcmp(unit.made_for, RACEPROOF_TEXT(RACEPROOF_MADE_FOR)) != 0) {
            refuse("objects that different versions of raceproof made in one program; build all of them again");
        }
        all_units.push_back(&unit);
        add_tables(unit);
        if (log) tell_units();
    }

    // A variable of the program's in device memory, by the address that the host knows it by.
    void add_symbol(const void* host, const char* name, std::uint64_t bytes, raceproof::Space space) {
        symbols.push_back(Symbol{host, name, bytes, space});
    }

    void add_memory(const void* base, std::uint64_t bytes, raceproof::Space space) {
        if (begin()) allocations.add(base, bytes, space, "");
    }

    void remove_memory(const void* base) {
        if (begin()) allocations.remove(base);
    }

    // Runs one launch: `start` starts it, `wait` waits until it has ended. Gives the error of either.
    template <class Start, class Wait> cudaError_t launch(const Launched& what, Start start, Wait wait) {
        std::lock_guard<std::mutex> one_at_a_time(launching);
        if (!begin() || is_cut_off || !prepare()) {
            tell_launch(what.name);
            Timed timed(seconds);
            cudaError_t started = start();
            if (seconds) wait();
            return started;
        }
        Timed timed(seconds);
        drain.begin(*log, allocations, tables, what);
        cudaError_t started = start();
        cudaError_t ended = started == cudaSuccess ? wait() : cudaSuccess;
        Ending how = started != cudaSuccess ? Ending::never_began : ended != cudaSuccess ? Ending::dead : Ending::well;
        if (!drain.end(how)) cut_off(what.name, ended);
        return started;
    }

    // The device forgets everything.
    void reset() {
        allocations.remove_all();
        drain.forget();
        is_prepared = false;
        prepared_units = 0;
        prepared_symbols = 0;
    }

    // `path:line:column` of a site.
    std::string place_of(std::uint32_t site) const { return site < places.size() ? places[site] : "an unknown place"; }

    // The program ends.
    void close(int status) {
        if (begun && log && !is_cut_off) log->close(status);
    }

private:
    // Adds what its life took to a sum, if there is one.
    class Timed {
    public:
        explicit Timed(double* sum) : to(sum), start(std::chrono::steady_clock::now()) {}
        ~Timed() {
            if (to) *to += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }

    private:
        double* to;
        std::chrono::steady_clock::time_point start;
    };

    // The sum of what launches take, if somebody wants to know it. It is written when the program ends.
    static double* sum_of_seconds() {
        static const char* path = std::getenv("RACEPROOF_LAUNCH_SECONDS");
        if (!path || !*path) return nullptr;
        static double sum = 0;
        on_exit(
            [](int, void*) {
                std::FILE* file = std::fopen(path, "w");
                if (!file) return;
                std::fprintf(file, "%.6f\n", sum);
                std::fclose(file);
            },
            nullptr);
        return &sum;
    }

    // A unit that is logged.
    struct Unit {
        const void* context;
        std::uint32_t first_site;
    };

    struct Symbol {
        const void* host;
        std::string name;
        std::uint64_t bytes;
        raceproof::Space space;
    };

    // Lines of fields between tabs.
    static std::vector<std::vector<std::string>> rows(const char* table) {
        std::vector<std::vector<std::string>> result;
        while (*table) {
            std::vector<std::string> row(1);
            for (; *table && *table != '\n'; table++) {
                if (*table == '\t') row.emplace_back();
                else row.back() += *table;
            }
            if (*table) table++;
            result.push_back(row);
        }
        return result;
    }

    void add_tables(const RaceproofUnit& unit) {
        // The number of a unit counts those that are logged.
        if (!unit.context) return;
        units.push_back(Unit{unit.context, std::uint32_t(places.size())});
        add_sites(unit.sites);
        tables.kernels.push_back(rows(unit.kernels));
        std::vector<std::string> names;
        for (const auto& row : rows(unit.shared)) names.push_back(row.front());
        tables.shared.push_back(names);
    }

    // Sites are counted over all units.
    void add_sites(const char* table) {
        for (std::vector<std::string>& row : rows(table)) {
            if (row.size() < 5) continue;
            row[0] = std::to_string(places.size());
            places.push_back(row[2] + ":" + row[3] + ":" + row[4]);
            for (std::size_t field = 0; field < row.size(); field++) sites += (field ? "\t" : "") + row[field];
            sites += '\n';
        }
    }

    // Writes the sites of units of which the log does not know yet, and what it will not have of them.
    void tell_units() {
        log->sites(sites.c_str());
        sites.clear();
        for (; told_units < all_units.size(); told_units++) {
            const RaceproofUnit& unit = *all_units[told_units];
            auto how = unit.context ? raceproof::Lack::places : raceproof::Lack::more;
            for (const auto& row : rows(unit.left_out)) log->left_out(how, row.front().c_str());
        }
    }

    // Whether there is a log. It begins when something is to be told: by then all units are known.
    bool begin() {
        std::lock_guard<std::mutex> guard(lock);
        if (begun || all_units.empty()) return log != nullptr;
        begun = true;
        const char* named = std::getenv("RACEPROOF_LOG");
        std::string path = named ? named : std::string(program_invocation_short_name) + ".trace";
        if (path.empty()) return false;
        log = &raceproof::Log::start(path.c_str());
        if (!named && log->is_open()) {
            std::fprintf(stderr, "raceproof: logs the accesses of kernels to %s; RACEPROOF_LOG names another file\n", path.c_str());
        }
        tell_units();
        allocations.begin(*log);
        // After the log has begun, so that it is closed before it is gone.
        on_exit([](int status, void*) { the().close(status); }, nullptr);
        return true;
    }

    // The device's part: rings, and what units need.
    bool prepare() {
        if (is_prepared) {
            int device = 0;
            if (cudaGetDevice(&device) == cudaSuccess && device != drain.device_number()) refuse("launches on more than one GPU");
            return prepare_units();
        }
        const char* asked = std::getenv("RACEPROOF_RING_MEGABYTES");
        std::uint64_t megabytes = asked && std::atol(asked) > 0 ? std::uint64_t(std::atol(asked)) : 128;
        if (!drain.open((megabytes << 20) / sizeof(u64))) {
            return nothing_is_logged("no rings on this device");
        }
        return is_prepared = prepare_units();
    }

    // What has come since the last launch: constants of units, addresses of symbols.
    bool prepare_units() {
        for (; prepared_units < units.size(); prepared_units++) {
            Context context = drain.context();
            context.unit = prepared_units;
            context.first_site = units[prepared_units].first_site;
            if (!set_context(units[prepared_units].context, context)) {
                return nothing_is_logged("this device cannot run the program's code");
            }
        }
        for (; prepared_symbols < symbols.size(); prepared_symbols++) {
            const Symbol& symbol = symbols[prepared_symbols];
            if (void* address = address_of_symbol(symbol.host)) {
                allocations.add(address, symbol.bytes, symbol.space, symbol.name.c_str());
            }
        }
        return true;
    }

    bool nothing_is_logged(const char* why) {
        std::string text = std::string("nothing is logged: ") + why + ": " + cudaGetErrorString(cudaGetLastError());
        if (tell("note", why, "", text.c_str(), text)) log->left_out(raceproof::Lack::more, text.c_str());
        return false;
    }

    // In runtime.cu, and in a test another one.
    static bool set_context(const void* symbol, const Context& context);
    static void* address_of_symbol(const void* symbol);

    void cut_off(const char* kernel, cudaError_t error) {
        is_cut_off = true;
        std::string text = std::string(kernel) + " did not end well (" + cudaGetErrorString(error) +
                           "); its accesses up to then are logged in part, and nothing after it";
        tell("note", "cut off", kernel, text.c_str(), text);
        log->cut_off();
    }

    std::mutex launching, lock;
    double* const seconds = sum_of_seconds();
    bool begun = false, is_prepared = false, is_cut_off = false;
    raceproof::Log* log = nullptr;
    std::vector<const RaceproofUnit*> all_units;
    std::vector<Unit> units;
    std::size_t told_units = 0, prepared_symbols = 0;
    std::uint32_t prepared_units = 0;
    std::vector<Symbol> symbols;
    Tables tables;
    std::string sites;
    std::vector<std::string> places;   // of sites
    Allocations allocations;
    Drain drain;
};

inline std::string place_of_site(std::uint32_t site) { return Session::the().place_of(site); }

}  // namespace raceproof_cuda

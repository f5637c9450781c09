// A run of a program: what units and the CUDA runtime tell before main, and every launch with its log.
//
// Launches run one at a time and to their end before the next line of host code, as the log has them: a kernel that
// waits for the host or for another kernel is not for this back end.
//
// Where RACEPROOF_LAUNCH_SECONDS names a file, what all launches took together, their logs included, is written into it
// when the program ends; without a log, too, so that the two can be compared.
#pragma once

#include "drain.hpp"
#include "unit.hpp"

namespace raceproof_cuda {

class Session {
public:
    static Session& the() {
        static Session* session = new Session;   // never destroyed: it is needed until the process is gone
        return *session;
    }

    void add_unit(const RaceproofUnit& unit) {
        units.push_back(&unit);
        add_sites(unit.sites, unit.first_site);
        tables.kernels.push_back(rows(unit.kernels));
        std::vector<std::string> names;
        for (const auto& row : rows(unit.shared)) names.push_back(row.front());
        tables.shared.push_back(names);
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
        static std::mutex* one_at_a_time = new std::mutex;
        std::lock_guard<std::mutex> guard(*one_at_a_time);
        if (!begin() || is_cut_off || !prepare()) {
            tell("launch", what.name, what.name, "");
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
    }

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

    // Sites are counted over all units.
    void add_sites(const char* table, unsigned long first) {
        while (*table) {
            char* rest = nullptr;
            unsigned long id = first + std::strtoul(table, &rest, 10);
            const char* end = std::strchr(rest, '\n');
            if (!end) end = rest + std::strlen(rest);
            sites += std::to_string(id);
            sites.append(rest, std::size_t(end - rest));
            sites += '\n';
            table = *end ? end + 1 : end;
        }
    }

    // Whether there is a log. It begins when something is to be told: by then all units are known.
    bool begin() {
        std::lock_guard<std::mutex> guard(lock);
        if (begun) return log != nullptr;
        begun = true;
        const char* path = std::getenv("RACEPROOF_LOG");
        if (!path || !*path) return false;
        log = &raceproof::Log::start(path);
        log->sites(sites.c_str());
        allocations.begin(*log);
        // After the log has begun, so that it is closed before it is gone.
        on_exit([](int status, void*) { the().close(status); }, nullptr);
        return true;
    }

    // The device's part: rings, constants of units, addresses of symbols.
    bool prepare() {
        if (is_prepared) {
            int device = 0;
            if (cudaGetDevice(&device) == cudaSuccess && device != drain.device_number()) refuse("launches on more than one GPU");
            return true;
        }
        const char* asked = std::getenv("RACEPROOF_RING_MEGABYTES");
        std::uint64_t megabytes = asked && std::atol(asked) > 0 ? std::uint64_t(std::atol(asked)) : 128;
        if (!drain.open((megabytes << 20) / sizeof(u64))) {
            std::string text = std::string("nothing is logged: no rings on this device: ") + cudaGetErrorString(cudaGetLastError());
            tell("note", "rings", "", text.c_str());
            return false;
        }
        for (std::uint32_t unit = 0; unit < units.size(); unit++) {
            Context context = drain.context();
            context.unit = unit;
            if (!set_context(units[unit]->context, context)) return false;
        }
        for (const Symbol& symbol : symbols) {
            if (void* address = address_of_symbol(symbol.host)) {
                allocations.add(address, symbol.bytes, symbol.space, symbol.name.c_str());
            }
        }
        return is_prepared = true;
    }

    // In runtime.cu, and in a test another one.
    static bool set_context(const void* symbol, const Context& context);
    static void* address_of_symbol(const void* symbol);

    void cut_off(const char* kernel, cudaError_t error) {
        is_cut_off = true;
        std::string text = std::string(kernel) + " did not end well (" + cudaGetErrorString(error) +
                           "); its accesses up to then are logged in part, and nothing after it";
        tell("note", "cut off", kernel, text.c_str());
        log->cut_off();
    }

    std::mutex lock;
    double* const seconds = sum_of_seconds();
    bool begun = false, is_prepared = false, is_cut_off = false;
    raceproof::Log* log = nullptr;
    std::vector<const RaceproofUnit*> units;
    std::vector<Symbol> symbols;
    Tables tables;
    std::string sites;
    Allocations allocations;
    Drain drain;
};

}  // namespace raceproof_cuda

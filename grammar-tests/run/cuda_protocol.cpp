// The records of the cuda back end, from the lanes that write them to the log: the same text as on a GPU, with the cpu
// back end in its place. Kernels are written as its launch stubs; the calls in them are what the instrumenter makes.
#include "raceproof.hpp"

#define RACEPROOF_LOGS 1
#define RACEPROOF_SPACE 1

#include "cuda/space.hpp"

static thread_local int row[64];

namespace raceproof_cuda {
namespace {
// Shared memory is the array above; everything else is global but the stack.
__device__ Where where(const volatile void* pointer, u64& address) {
    address = reinterpret_cast<u64>(pointer);
    u64 place = address - reinterpret_cast<u64>(row);
    if (place >= sizeof row) return address - raceproof::here.stack_low < raceproof::here.stack_bytes ? Where::unshared : Where::global;
    address = place + 1024;
    return Where::shared;
}
__device__ u32 dynamic_bytes() { return 0; }
__device__ u32 dynamic_place() { return 0; }
}  // namespace
}  // namespace raceproof_cuda

#include "cuda/kernel.hpp"
#include "cuda/sync.hpp"
#include "cuda/unit.hpp"

// A log of its own: the cpu back end has the other.
#undef RACEPROOF_LOG_HPP
#define raceproof raceproof_under_test
#include "log.hpp"
#include "cuda/session.hpp"
#undef raceproof

bool raceproof_cuda::Session::set_context(const void* symbol, const Context& context) {
    memcpy(const_cast<void*>(symbol), &context, sizeof context);
    return true;
}
void* raceproof_cuda::Session::address_of_symbol(const void* symbol) { return const_cast<void*>(symbol); }
extern "C" void raceproof_register_unit(const RaceproofUnit* unit) { raceproof_cuda::Session::the().add_unit(*unit); }

namespace r = raceproof_cuda;

struct Wide { char bytes[70000]; };
enum Color { green = -3 };
// Without padding, whose bytes are anything.
struct Pair { short one; char two, three; };

// Every element belongs to one thread; the row is turned by way of shared memory, with a barrier between.
static void turned(int* a, const float* b, int n, double factor, Color color, bool yes, Pair pair, unsigned long long big) {
    raceproof::kernel(0, "turned", [=]() mutable {
        r::kernel begun(0, a, b, n, factor, color, yes, pair, big);
        r::shared(0, row, sizeof row);
        int thread = threadIdx.x, at = blockIdx.x * blockDim.x + thread;
        if (at >= n) return;
        r::wr(0, row[thread]) = r::rd(1, a[at]) + int(r::rd(2, b[at % 32]));
        r::syncthreads();
        r::wr(3, a[at]) = r::rd(4, row[blockDim.x - 1 - thread]);
    });
}

// The same without the barrier.
static void too_early(int* a) {
    raceproof::kernel(1, "too_early", [=]() mutable {
        r::kernel begun(1, a);
        r::shared(0, row, sizeof row);
        int thread = threadIdx.x;
        r::wr(5, row[thread]) = r::rd(6, a[thread]);
        r::wr(7, a[thread]) = r::rd(8, row[blockDim.x - 1 - thread]);
    });
}

// Neighbours in tiles of four exchange what they have, many times over, with a barrier of the tile between; lanes take
// different ways and different strides, and count what they did.
static void tiles(int* a, unsigned* count, int rounds) {
    raceproof::kernel(2, "tiles", [=]() mutable {
        r::kernel begun(2, a, count, rounds);
        int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
        unsigned mine = 15u << (lane & ~3);
        for (int round = 0; round < rounds; round++) {
            if (at % 3 == 0) r::wr(9, a[at * 2]) = round;
            else r::wr(10, a[at * 2]) = -round;
            r::syncwarp(mine);
            int sum = r::rd(11, a[(at ^ 1) * 2]) + r::rd(12, a[(at ^ 2) * 2]);
            r::syncwarp(mine);
            r::rw(13, a[at * 2 + 1]) += sum;
        }
        atomicAdd(r::at(14, count, r::device_scope), 1u);
    });
}

// The barrier is one of two threads, but four exchange.
static void small_tiles(int* a) {
    raceproof::kernel(3, "small_tiles", [=]() mutable {
        r::kernel begun(3, a);
        int lane = threadIdx.x % 32;
        r::wr(15, a[threadIdx.x]) = lane;
        r::syncwarp(3u << (lane & ~1));
        r::rw(16, a[(threadIdx.x ^ 2) + 64]) += r::rd(17, a[threadIdx.x ^ 2]);
    });
}

// Copies that are too wide for a record of a warp; those of block 1 and 2 meet in one byte.
static void wide_copies(Wide* to, const Wide* from, char* end) {
    raceproof::kernel(4, "wide_copies", [=]() mutable {
        r::kernel begun(4, to, from, end);
        if (threadIdx.x == 0) memcpy(r::wr_range(18, to + blockIdx.x, sizeof(Wide)), r::rd_range(19, from, sizeof(Wide)), sizeof(Wide));
        if (blockIdx.x == 1 && threadIdx.x == 1) r::wr(20, *end) = 1;
    });
}

static int not_of_the_device, of_a_library;
bool raceproof_cuda::is_memory_of_others(std::uint64_t address) { return address == reinterpret_cast<std::uint64_t>(&of_a_library); }

// Writes far outside.
static void astray(int* a) {
    raceproof::kernel(5, "astray", [=]() mutable {
        r::kernel begun(5, a);
        r::wr(21, not_of_the_device) = threadIdx.x;
        r::wr(22, of_a_library) = threadIdx.x;
    });
}

static const char* const SITES =
    "0\twrite\tk.cu\t1\t1\t1\t2\trow\tturned\t\n1\tread\tk.cu\t2\t1\t2\t2\ta\tturned\t\n2\tread\tk.cu\t3\t1\t3\t2\tb\tturned\t\n"
    "3\twrite\tk.cu\t4\t1\t4\t2\ta\tturned\t\n4\tread\tk.cu\t5\t1\t5\t2\trow\tturned\t\n5\twrite\tk.cu\t6\t1\t6\t2\trow\ttoo_early\t\n"
    "6\tread\tk.cu\t7\t1\t7\t2\ta\ttoo_early\t\n7\twrite\tk.cu\t8\t1\t8\t2\ta\ttoo_early\t\n8\tread\tk.cu\t9\t1\t9\t2\trow\ttoo_early\t\n"
    "9\twrite\tk.cu\t10\t1\t10\t2\ta\ttiles\t\n10\twrite\tk.cu\t11\t1\t11\t2\ta\ttiles\t\n11\tread\tk.cu\t12\t1\t12\t2\ta\ttiles\t\n"
    "12\tread\tk.cu\t13\t1\t13\t2\ta\ttiles\t\n13\tread-write\tk.cu\t14\t1\t14\t2\ta\ttiles\t\n14\tatomic\tk.cu\t15\t1\t15\t2\tcount\ttiles\t\n"
    "15\twrite\tk.cu\t16\t1\t16\t2\ta\tsmall_tiles\t\n16\tread-write\tk.cu\t17\t1\t17\t2\ta\tsmall_tiles\t\n17\tread\tk.cu\t18\t1\t18\t2\ta\tsmall_tiles\t\n"
    "18\twrite\tk.cu\t19\t1\t19\t2\tto\twide_copies\t\n19\tread\tk.cu\t20\t1\t20\t2\tfrom\twide_copies\t\n20\twrite\tk.cu\t21\t1\t21\t2\tend\twide_copies\t\n"
    "21\twrite\tk.cu\t22\t1\t22\t2\tnot_of_the_device\tastray\t\n22\twrite\tk.cu\t23\t1\t23\t2\tof_a_library\tastray\t\n";

template <class Start> static void launch(const char* name, unsigned grid, unsigned block, cudaError_t ends, Start start) {
    r::Launched what{{grid, 1, 1}, {block, 1, 1}, 0, name};
    r::Session::the().launch(what, [&] { return (raceproof::configure(grid, block), start()), cudaSuccess; }, [&] { return ends; });
}

template <class T> static T* memory(size_t count) {
    void* result = nullptr;
    cudaMalloc(&result, count * sizeof(T));
    cudaMemset(result, 0, count * sizeof(T));
    return static_cast<T*>(result);
}

// One kernel of the name, logged to the path; its own results are checked.
int main(int, char** arguments) {
    const std::string kernel = arguments[1];
    const int n = 1000, rounds = 400;
    int* a = memory<int>(2 * 64 * 64);
    float* b = memory<float>(32);
    unsigned* count = memory<unsigned>(1);
    Wide* copies = memory<Wide>(4);
    setenv("RACEPROOF_LOG", arguments[2], 1);
    // Another unit of the program, told first: what is said of the one below counts from where this one ends.
    static r::Context context_of_the_other;
    static RaceproofUnit other{"no_other",
                               "0\tread\tother.cu\t1\t1\t1\t2\tx\tf\t\n1\twrite\tother.cu\t2\t1\t2\t2\tx\tf\t\n",
                               "f\tx\n", "tile\n", "other.cu:3:5: inline assembly in f\n", &context_of_the_other};
    raceproof_register_unit(&other);
    static RaceproofUnit unit{"no_other", SITES,
                              "turned\ta\tb\tn\tfactor\tcolor\tyes\tpair\tbig\ntoo_early\ta\ntiles\ta\tcount\trounds\nsmall_tiles\ta\n"
                              "wide_copies\tto\tfrom\tend\nastray\ta\n",
                              "row\n", "", &r::context};
    raceproof_register_unit(&unit);
    r::Session::the().add_memory(a, 2 * 64 * 64 * sizeof(int), raceproof_under_test::Space::global);
    r::Session::the().add_memory(b, 32 * sizeof(float), raceproof_under_test::Space::global);
    r::Session::the().add_memory(count, sizeof(unsigned), raceproof_under_test::Space::global);
    r::Session::the().add_memory(copies, 4 * sizeof(Wide), raceproof_under_test::Space::global);
    for (int i = 0; i < n; i++) a[i] = i;
    bool is_right = true;
    if (kernel == "turned") {
        launch("turned", 16, 64, cudaSuccess, [&] { turned(a, b, n, 0.1, green, true, Pair{1, 2, 0}, 1ull << 63); });
        for (int i = 0; i < 960; i++) is_right = is_right && a[i] == i / 64 * 64 + 63 - i % 64;
    } else if (kernel == "too_early") {
        launch("too_early", 1, 64, cudaSuccess, [&] { too_early(a); });
    } else if (kernel == "tiles") {
        launch("tiles", 64, 64, cudaSuccess, [&] { tiles(a, count, rounds); });
        is_right = *count == 64 * 64;
    } else if (kernel == "small_tiles") {
        launch("small_tiles", 1, 64, cudaSuccess, [&] { small_tiles(a); });
    } else if (kernel == "wide_copies") {
        launch("wide_copies", 2, 32, cudaSuccess, [&] { wide_copies(copies, copies + 3, copies[0].bytes + 69999); });
    } else if (kernel == "astray") {
        launch("astray", 1, 32, cudaSuccess, [&] { astray(a); });
    } else if (kernel == "never") {
        // Refused by CUDA: too many threads.
        r::Launched what{{1, 1, 1}, {4096, 1, 1}, 0, "never"};
        r::Session::the().launch(what, [] { return cudaErrorInvalidConfiguration; }, [] { return cudaSuccess; });
    } else if (kernel == "dies") {
        launch("tiles", 64, 64, cudaErrorInvalidValue, [&] { tiles(a, count, rounds); });
    }
    puts(is_right ? "right" : "wrong");
    return is_right ? 0 : 1;
}

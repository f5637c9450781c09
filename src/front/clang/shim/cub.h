// What CUB's headers declare of its collectives, as far as programs with kernels use it; hipCUB has the same names in
// a namespace of its own.
#pragma clang force_cuda_host_device begin
#define RP_CUB(NS) \
  namespace NS { \
  enum BlockReduceAlgorithm { \
    BLOCK_REDUCE_RAKING, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_WARP_REDUCTIONS \
  }; \
  enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS }; \
  enum BlockLoadAlgorithm { \
    BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, \
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED \
  }; \
  enum BlockStoreAlgorithm { \
    BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, \
    BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED \
  }; \
  struct Sum { template <class T> T operator()(T, T) const; }; \
  struct Max { template <class T> T operator()(T, T) const; }; \
  struct Min { template <class T> T operator()(T, T) const; }; \
  struct Equality { template <class T> bool operator()(T, T) const; }; \
  struct Inequality { template <class T> bool operator()(T, T) const; }; \
  struct Difference { template <class T> T operator()(T, T) const; }; \
  struct Division { template <class T> T operator()(T, T) const; }; \
  struct ArgMax { template <class T> T operator()(T, T) const; }; \
  struct ArgMin { template <class T> T operator()(T, T) const; }; \
  template <class T, int X, int A = 0, int Y = 1, int Z = 1, int P = 0> struct BlockReduce { \
    struct TempStorage {}; \
    BlockReduce(TempStorage &); \
    template <class V, class... M> T Sum(V &&, M &&...); \
    template <class V, class... M> T Reduce(V &&, M &&...); \
  }; \
  template <class T, int X, int A = 0, int Y = 1, int Z = 1, int P = 0> struct BlockScan { \
    struct TempStorage {}; \
    BlockScan(TempStorage &); \
    template <class... M> void ExclusiveSum(M &&...); \
    template <class... M> void InclusiveSum(M &&...); \
    template <class... M> void ExclusiveScan(M &&...); \
    template <class... M> void InclusiveScan(M &&...); \
  }; \
  template <class T, int X, int I, int A = 0, int Y = 1, int Z = 1, int P = 0> struct BlockLoad { \
    struct TempStorage {}; \
    BlockLoad(TempStorage &); \
    template <class... M> void Load(M &&...); \
  }; \
  template <class T, int X, int I, int A = 0, int Y = 1, int Z = 1, int P = 0> struct BlockStore { \
    struct TempStorage {}; \
    BlockStore(TempStorage &); \
    template <class... M> void Store(M &&...); \
  }; \
  template <class K, int X, int I, class V = void, int... R> struct BlockRadixSort { \
    struct TempStorage {}; \
    BlockRadixSort(TempStorage &); \
    template <class... M> void Sort(M &&...); \
    template <class... M> void SortDescending(M &&...); \
    template <class... M> void SortBlockedToStriped(M &&...); \
    template <class... M> void SortDescendingBlockedToStriped(M &&...); \
  }; \
  template <class K, int X, int I, class V = void, int Y = 1, int Z = 1> struct BlockMergeSort { \
    struct TempStorage {}; \
    BlockMergeSort(TempStorage &); \
    template <class... M> void Sort(M &&...); \
    template <class... M> void StableSort(M &&...); \
  }; \
  template <class T, int X, int I, bool W = false, int Y = 1, int Z = 1, int P = 0> struct BlockExchange { \
    struct TempStorage {}; \
    BlockExchange(TempStorage &); \
    template <class... M> void StripedToBlocked(M &&...); \
    template <class... M> void BlockedToStriped(M &&...); \
    template <class... M> void WarpStripedToBlocked(M &&...); \
    template <class... M> void BlockedToWarpStriped(M &&...); \
    template <class... M> void ScatterToBlocked(M &&...); \
    template <class... M> void ScatterToStriped(M &&...); \
  }; \
  template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct BlockDiscontinuity { \
    struct TempStorage {}; \
    BlockDiscontinuity(TempStorage &); \
    template <class... M> void FlagHeads(M &&...); \
    template <class... M> void FlagTails(M &&...); \
    template <class... M> void FlagHeadsAndTails(M &&...); \
  }; \
  template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct BlockAdjacentDifference { \
    struct TempStorage {}; \
    BlockAdjacentDifference(TempStorage &); \
    template <class... M> void SubtractLeft(M &&...); \
    template <class... M> void SubtractRight(M &&...); \
    template <class... M> void SubtractLeftPartialTile(M &&...); \
    template <class... M> void SubtractRightPartialTile(M &&...); \
  }; \
  template <class T, int X, int Y = 1, int Z = 1, int P = 0> struct BlockShuffle { \
    struct TempStorage {}; \
    BlockShuffle(TempStorage &); \
    template <class... M> void Offset(M &&...); \
    template <class... M> void Rotate(M &&...); \
    template <class... M> void Up(M &&...); \
    template <class... M> void Down(M &&...); \
  }; \
  template <class T, int I, int L = 32, int A = 0> struct WarpExchange { \
    struct TempStorage {}; \
    WarpExchange(TempStorage &); \
    template <class... M> void StripedToBlocked(M &&...); \
    template <class... M> void BlockedToStriped(M &&...); \
    template <class... M> void ScatterToStriped(M &&...); \
  }; \
  template <class K, int I, int L = 32, class V = void, int P = 0> struct WarpMergeSort { \
    struct TempStorage {}; \
    WarpMergeSort(TempStorage &); \
    template <class... M> void Sort(M &&...); \
    template <class... M> void StableSort(M &&...); \
  }; \
  template <class T, int L = 32, int P = 0> struct WarpReduce { \
    struct TempStorage {}; \
    WarpReduce(TempStorage &); \
    template <class V, class... M> T Sum(V &&, M &&...); \
    template <class V, class... M> T Reduce(V &&, M &&...); \
  }; \
  template <class T, int L = 32, int P = 0> struct WarpScan { \
    struct TempStorage {}; \
    WarpScan(TempStorage &); \
    template <class... M> void ExclusiveSum(M &&...); \
    template <class... M> void InclusiveSum(M &&...); \
    template <class... M> void ExclusiveScan(M &&...); \
    template <class... M> void InclusiveScan(M &&...); \
    T Broadcast(T, unsigned); \
  }; \
  }
RP_CUB(cub)
RP_CUB(hipcub)
#undef RP_CUB
// Copies of CUDA's C++ library, with pipelines and barriers that are objects.
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <thread_scope S> struct pipeline {
  void producer_acquire();
  void producer_commit();
  void consumer_wait();
  void consumer_release();
};
template <size_t N> struct aligned_size_t {
  explicit aligned_size_t(size_t);
  operator size_t() const;
};
template <thread_scope S, int N> struct pipeline_shared_state {
  unsigned long barriers[2 * N];
};
enum class pipeline_role { producer, consumer };
pipeline<thread_scope_thread> make_pipeline();
template <class G, thread_scope S, int N> pipeline<S> make_pipeline(const G &, pipeline_shared_state<S, N> *);
template <class G, thread_scope S, int N>
pipeline<S> make_pipeline(const G &, pipeline_shared_state<S, N> *, pipeline_role);
template <class G, thread_scope S, int N> pipeline<S> make_pipeline(const G &, pipeline_shared_state<S, N> *, size_t);
template <thread_scope S, class F = void> struct barrier {
  typedef unsigned long arrival_token;
  barrier() = default;
  barrier(ptrdiff_t);
  arrival_token arrive(ptrdiff_t = 1);
  template <class K> void wait(K &&) const;
  void wait_parity(bool) const;
  template <class K, class D> bool try_wait_for(K &&, const D &) const;
  template <class K, class D> bool try_wait_until(K &&, const D &) const;
  template <class D> bool try_wait_parity_for(bool, const D &) const;
  template <class D> bool try_wait_parity_until(bool, const D &) const;
  void arrive_and_wait();
  void arrive_and_drop();
  unsigned long phase;
};
template <thread_scope S, class F> void init(barrier<S, F> *, ptrdiff_t);
template <class T, class U, class S, class P> void memcpy_async(T *, const U *, S, P &);
template <class G, class T, class U, class S, class P> void memcpy_async(const G &, T *, const U *, S, P &);
template <int N, thread_scope S> void pipeline_consumer_wait_prior(pipeline<S> &);
namespace std {
enum class memory_order { relaxed, consume, acquire, release, acq_rel, seq_cst };
constexpr memory_order memory_order_relaxed = memory_order::relaxed, memory_order_consume = memory_order::consume,
                       memory_order_acquire = memory_order::acquire, memory_order_release = memory_order::release,
                       memory_order_acq_rel = memory_order::acq_rel, memory_order_seq_cst = memory_order::seq_cst;
}
using std::memory_order;
using std::memory_order_relaxed;
using std::memory_order_consume;
using std::memory_order_acquire;
using std::memory_order_release;
using std::memory_order_acq_rel;
using std::memory_order_seq_cst;
void atomic_thread_fence(memory_order, thread_scope = thread_scope_system);
#define RP_ATOMIC(NAME, CONSTRUCTORS, MEMBER) \
  template <class T, thread_scope S = thread_scope_system> struct NAME { \
    CONSTRUCTORS \
    T load(memory_order = memory_order_seq_cst) const; \
    void store(T, memory_order = memory_order_seq_cst) const; \
    T exchange(T, memory_order = memory_order_seq_cst) const; \
    bool compare_exchange_strong(T &, T, memory_order = memory_order_seq_cst) const; \
    bool compare_exchange_strong(T &, T, memory_order, memory_order) const; \
    bool compare_exchange_weak(T &, T, memory_order = memory_order_seq_cst) const; \
    bool compare_exchange_weak(T &, T, memory_order, memory_order) const; \
    T fetch_add(T, memory_order = memory_order_seq_cst) const; \
    T fetch_sub(T, memory_order = memory_order_seq_cst) const; \
    T fetch_min(T, memory_order = memory_order_seq_cst) const; \
    T fetch_max(T, memory_order = memory_order_seq_cst) const; \
    T fetch_and(T, memory_order = memory_order_seq_cst) const; \
    T fetch_or(T, memory_order = memory_order_seq_cst) const; \
    T fetch_xor(T, memory_order = memory_order_seq_cst) const; \
    void wait(T, memory_order = memory_order_seq_cst) const; \
    void notify_one(); \
    void notify_all(); \
    operator T() const; \
    T operator=(T) const; \
    T operator++() const; \
    T operator++(int) const; \
    T operator--() const; \
    T operator--(int) const; \
    T operator+=(T) const; \
    T operator-=(T) const; \
    T operator&=(T) const; \
    T operator|=(T) const; \
    T operator^=(T) const; \
    MEMBER; \
  };
RP_ATOMIC(atomic_ref, explicit atomic_ref(T &);, T *object)
RP_ATOMIC(atomic, atomic() = default; constexpr atomic(T);, T value)
#undef RP_ATOMIC
namespace std {
template <class T> using atomic_ref = cuda::atomic_ref<T>;
template <class T> using atomic = cuda::atomic<T>;
void atomic_thread_fence(memory_order);
}
}
#pragma clang force_cuda_host_device end

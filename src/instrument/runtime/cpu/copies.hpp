// Asynchronous copies: of threads (`__pipeline_memcpy_async`, `cuda::memcpy_async`) and of groups.
//
// A copy is made when it is begun, by the thread that begins it, for a group by its first thread. The log is told of it
// twice, when it is begun and when it is waited for: so it meets whatever is done in between, as a copy that goes on meanwhile would.
//
// Deliberately absent: what a thread itself does with memory that its copy is writing, which is no race of two threads.
#pragma once

#include "objects.hpp"

namespace raceproof {

// Sites of the copy that is begun next.
inline thread_local uint32_t to_site = NO_SITE, from_site = NO_SITE;

template <class T> static inline T to(uint32_t site, T place) {
    to_site = site + RACEPROOF_FIRST_SITE;
    return place;
}
template <class T, size_t Count> static inline T* to(uint32_t site, T (&place)[Count]) {
    to_site = site + RACEPROOF_FIRST_SITE;
    return place;
}
template <class T> static inline T from(uint32_t site, T place) {
    from_site = site + RACEPROOF_FIRST_SITE;
    return place;
}
template <class T, size_t Count> static inline T* from(uint32_t site, T (&place)[Count]) {
    from_site = site + RACEPROOF_FIRST_SITE;
    return place;
}

inline void tell_copy(const Copy& copy) {
    if (!here.log || copy.bytes == 0) return;
    touched(copy.from_site, Kind::read, copy.from, copy.bytes);
    touched(copy.to_site, Kind::write, copy.to, copy.bytes);
}

// Tells of copies of a thread once more, and forgets them.
template <class Done> inline void finish(uint32_t thread, Done done) {
    std::vector<Copy>& all = worker->copies;
    size_t kept = 0;
    for (size_t at = 0; at < all.size(); at++) {
        if (all[at].thread == thread && done(all[at])) tell_copy(all[at]);
        else all[kept++] = all[at];
    }
    all.resize(kept);
}

inline void begin_copy(void* to, const void* from, size_t bytes, size_t zeros, const void* told_by, uint32_t batch) {
    memcpy(to, from, bytes - zeros);
    memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
    if (!here.log) return;
    if (to_site == NO_SITE || from_site == NO_SITE) refuse("an asynchronous copy that the instrumenter did not see");
    Copy copy{worker->linear(), to_site, from_site, uint32_t(bytes), to, from, told_by, batch};
    tell_copy(copy);
    worker->finish_copies = [](uint32_t thread) { finish(thread, [](const Copy&) { return true; }); };
    worker->copies.push_back(copy);
}

}  // namespace raceproof

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    raceproof::begin_copy(to, from, bytes, zeros, nullptr, 0);
}
// What a thread commits becomes one batch older for each that it commits after it.
inline void __pipeline_commit() {
    for (raceproof::Copy& copy : raceproof::worker->copies) {
        if (copy.thread == raceproof::worker->linear() && !copy.told_by) copy.batch++;
    }
}
inline void __pipeline_wait_prior(unsigned newest) {
    raceproof::finish(raceproof::worker->linear(),
                      [=](const raceproof::Copy& copy) { return !copy.told_by && copy.batch > newest; });
}

namespace cuda {

template <size_t Alignment> struct aligned_size_t {
    size_t value;
    constexpr explicit aligned_size_t(size_t value) : value(value) {}
    constexpr operator size_t() const { return value; }
};

template <thread_scope Among> class pipeline;

// Pipelines of one thread; those that threads share have a file of their own.
template <> class pipeline<thread_scope_thread> {
public:
    void producer_acquire() {}
    void producer_commit() {
        committed++;
        __pipeline_commit();
    }
    // The oldest batch that has not been waited for.
    void consumer_wait() {
        if (waited < committed) waited++;
        __pipeline_wait_prior(committed - waited);
    }
    void consumer_release() {}
    bool quit() { return true; }

private:
    uint32_t committed = 0, waited = 0;
};
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <uint8_t Newest> inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
    __pipeline_wait_prior(Newest);
}

template <class To, class From, class Size>
inline void memcpy_async(To* to, const From* from, Size bytes, pipeline<thread_scope_thread>&) {
    raceproof::begin_copy(to, from, bytes, 0, nullptr, 0);
}
template <class Group, class To, class From, class Size>
inline void memcpy_async(const Group& group, To* to, const From* from, Size bytes, pipeline<thread_scope_thread>&) {
    if (group.thread_rank() == 0) raceproof::begin_copy(to, from, bytes, 0, nullptr, 0);
}

}  // namespace cuda

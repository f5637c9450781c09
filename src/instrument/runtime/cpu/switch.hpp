// Switching from one stack to another.
//
// A switch saves what the calling convention asks a function to preserve, and nothing else: device code does not
// change rounding modes. On processors that are not known here, POSIX's ucontext does it, some thirty times slower.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#if defined(__APPLE__)
#define RACEPROOF_SYMBOL "_raceproof_switch"
#define RACEPROOF_WEAK ".globl _raceproof_switch\n.weak_definition _raceproof_switch\n"
#else
#define RACEPROOF_SYMBOL "raceproof_switch"
#define RACEPROOF_WEAK ".weak raceproof_switch\n"
#endif

#if defined(__x86_64__)
// rdi: where the stack pointer of this side is kept; rsi: the stack pointer of the other side.
asm(".text\n" RACEPROOF_WEAK ".p2align 4\n" RACEPROOF_SYMBOL
    ":\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nretq\n");
#elif defined(__aarch64__)
// x0: where the stack pointer of this side is kept; x1: the stack pointer of the other side.
asm(".text\n" RACEPROOF_WEAK ".p2align 4\n" RACEPROOF_SYMBOL
    ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp, #0]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp, #0]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" void raceproof_switch(void** mine, void* other);
#endif

namespace raceproof {

// A place to come back to.
class Context {
public:
#if defined(__x86_64__) || defined(__aarch64__)
    // Makes a context that calls `entry`, which never returns, on the stack that ends at `top`.
    void prepare(char*, size_t, char* top, void (*entry)()) {
        auto end = reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15};
        auto words = reinterpret_cast<void**>(end);
#if defined(__x86_64__)
        // Six registers, the address to return to, and a return address for `entry` that nobody uses.
        words -= 8;
        for (int i = 0; i < 8; i++) words[i] = nullptr;
        words[6] = reinterpret_cast<void*>(entry);
#else
        words -= 20;
        for (int i = 0; i < 20; i++) words[i] = nullptr;
        words[11] = reinterpret_cast<void*>(entry);
#endif
        stack_pointer = words;
    }

    // Leaves this context, which is the running one, for `other`.
    void go(Context& other) { raceproof_switch(&stack_pointer, other.stack_pointer); }

private:
    void* stack_pointer = nullptr;
#else
    void prepare(char* low, size_t, char* top, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = low;
        context.uc_stack.ss_size = size_t(top - low);
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    void go(Context& other) { swapcontext(&context, &other.context); }

private:
    ucontext_t context;
#endif
};

}  // namespace raceproof

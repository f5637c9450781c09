// Programs and kernels of the host program, and what stands beside each: its twin, made of instrumented text.
//
// Nothing of the program's own is changed: it builds its text and asks its kernels whatever it likes. When it makes a
// kernel, its program's text is instrumented and built once more, with the same options for the same devices, and the
// kernel's twin is given each argument that the kernel is given. Only launches go to the twin.
#pragma once

#include "messages.h"

// A text that a program is compiled with under a name.
struct header {
    struct header* next;
    char* name;
    char* text;
};

struct program {
    struct program* next;
    cl_program handle;
    unsigned users;
    // What it was made of; nothing for binaries and the like.
    char* text;
    char* options;
    struct header* headers;
    // The devices that it was built for.
    cl_uint device_count;
    cl_device_id* devices;
    // Why it has no twin, if that is not the instrumenter's or the compiler's doing.
    const char* reason;
    int was_prepared;
    // What raceproof calls the instrumented unit; -1 for none.
    long unit;
    cl_program twin;
    // Whether what its kernels do can be seen beside their buffers, so that they cannot run twice.
    int runs_once;
    // How many words its kernels count in, but for groups that part; 0 if they log.
    size_t count_words;
    // Lines `kernel`, tab, name, tab, letters.
    char* kernels;
};

// What a kernel was given.
struct argument {
    // `g`, `c`, `l`, `v` as in the answer to `build`, or 0 for nothing yet.
    char kind;
    // A buffer as a whole, its size, the part that was given, and whether kernels may write it.
    cl_mem whole;
    size_t whole_bytes, first_byte, bytes;
    int is_written;
    void* value;
};

struct kernel {
    struct kernel* next;
    cl_kernel handle;
    unsigned users;
    // Launches that are under way, for which it stays when its last user has gone.
    unsigned launches;
    int is_gone;
    char* name;
    cl_kernel twin;
    // Why it is not logged, if it is known here.
    const char* reason;
    long unit;
    int runs_once;
    size_t count_words;
    unsigned parameters;
    char* letters;
    struct argument* arguments;
};

// All of them, and the lock for them and for all that hangs on them.
static struct program* programs;
static struct kernel* kernels;
static pthread_mutex_t objects = PTHREAD_MUTEX_INITIALIZER;

static void lock_objects(void) { pthread_mutex_lock(&objects); }
static void unlock_objects(void) { pthread_mutex_unlock(&objects); }

static struct program* find_program(cl_program handle) {
    struct program* program = programs;
    while (program && program->handle != handle) program = program->next;
    return program;
}

static struct kernel* find_kernel(cl_kernel handle) {
    struct kernel* kernel = kernels;
    while (kernel && kernel->handle != handle) kernel = kernel->next;
    return kernel;
}

static void* zeros(size_t bytes) {
    void* memory = calloc(1, bytes ? bytes : 1);
    if (!memory) abort();
    return memory;
}

static char* copy_of(const char* text) {
    size_t bytes = strlen(text ? text : "") + 1;
    return memcpy(zeros(bytes), text ? text : "", bytes);
}

static void drop_twin(struct program* program) {
    if (program->twin) library.clReleaseProgram(program->twin);
    free(program->kernels);
    program->twin = NULL;
    program->kernels = NULL;
    program->was_prepared = 0;
    program->unit = -1;
}

static void drop_headers(struct program* program) {
    while (program->headers) {
        struct header* header = program->headers;
        program->headers = header->next;
        free(header->name);
        free(header->text);
        free(header);
    }
}

static void drop_program(cl_program handle) {
    for (struct program** at = &programs; *at; at = &(*at)->next) {
        struct program* program = *at;
        if (program->handle != handle) continue;
        *at = program->next;
        drop_twin(program);
        drop_headers(program);
        free(program->text);
        free(program->options);
        free(program->devices);
        free(program);
        return;
    }
}

// A program that the driver has just made. Its handle may be that of one that is gone.
static struct program* add_program(cl_program handle) {
    drop_program(handle);
    struct program* program = zeros(sizeof *program);
    program->handle = handle;
    program->users = 1;
    program->unit = -1;
    program->next = programs;
    programs = program;
    return program;
}

static void free_kernel(struct kernel* kernel) {
    if (kernel->twin) library.clReleaseKernel(kernel->twin);
    for (unsigned each = 0; each < kernel->parameters; each++) free(kernel->arguments[each].value);
    free(kernel->arguments);
    free(kernel->letters);
    free(kernel->name);
    free(kernel);
}

static void drop_kernel(cl_kernel handle) {
    for (struct kernel** at = &kernels; *at; at = &(*at)->next) {
        struct kernel* kernel = *at;
        if (kernel->handle != handle) continue;
        *at = kernel->next;
        kernel->is_gone = 1;
        if (!kernel->launches) free_kernel(kernel);
        return;
    }
}

static void begin_launch_of(struct kernel* kernel) { kernel->launches++; }

static void end_launch_of(struct kernel* kernel) {
    if (--kernel->launches == 0 && kernel->is_gone) free_kernel(kernel);
}

// What a program is built with. What was made of it before does not fit any more, unless it is built in the same way again.
static void note_build(struct program* program, const char* options, cl_uint count, const cl_device_id* devices) {
    cl_uint wanted = devices ? count : 0;
    int is_same = program->options && !strcmp(program->options, options ? options : "") && wanted &&
                  wanted == program->device_count && !memcmp(program->devices, devices, wanted * sizeof *devices);
    if (is_same) return;
    drop_twin(program);
    free(program->options);
    free(program->devices);
    program->options = copy_of(options);
    program->device_count = wanted;
    program->devices = zeros(program->device_count * sizeof *devices);
    if (program->device_count) memcpy(program->devices, devices, program->device_count * sizeof *devices);
}

// The devices of a program that was built for all that it has.
static void find_devices(struct program* program) {
    if (program->device_count) return;
    cl_uint count = 0;
    library.clGetProgramInfo(program->handle, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL);
    free(program->devices);
    program->devices = zeros(count * sizeof *program->devices);
    program->device_count = count;
    library.clGetProgramInfo(program->handle, CL_PROGRAM_DEVICES, count * sizeof *program->devices, program->devices, NULL);
}

// Asks for the instrumented text; gives it, within the answer, which is to be freed.
static char* ask_for_text(struct program* program, char** answer) {
    char executable[PATH_BYTES] = "", working[PATH_BYTES] = "", extensions[16384] = "", version[256] = "";
    if (readlink("/proc/self/exe", executable, sizeof executable - 1) < 0) executable[0] = 0;
    if (!getcwd(working, sizeof working)) working[0] = 0;
    if (program->device_count) {
        library.clGetDeviceInfo(program->devices[0], CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
        library.clGetDeviceInfo(program->devices[0], CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    }
    struct message message = begin_message();
    say(&message, "build");
    say_text(&message, "options", program->options ? program->options : "");
    say_text(&message, "directory", working);
    say_text(&message, "executable", executable);
    say_text(&message, "extensions", extensions);
    say_text(&message, "version", version);
    say(&message, "bytes\t%zu", strlen(program->text));
    for (struct header* header = program->headers; header; header = header->next) {
        say_text(&message, "header", header->name);
        say(&message, "bytes\t%zu", strlen(header->text));
    }
    say(&message, "%s", "");
    add_bytes(&message, program->text, strlen(program->text));
    for (struct header* header = program->headers; header; header = header->next)
        add_bytes(&message, header->text, strlen(header->text));
    *answer = send_message(&message) ? answer_to(&message) : NULL;
    char* end = *answer ? strstr(*answer, "\n\n") : NULL;
    const char* form = "unit\t%ld\t%d\t%zu";
    if (!end || sscanf(*answer, form, &program->unit, &program->runs_once, &program->count_words) != 3) {
        program->reason = "raceproof did not answer";
        return NULL;
    }
    end[1] = 0;
    program->kernels = copy_of(*answer);
    return end + 2;
}

static void tell_refusal(const struct program* program, cl_int code) {
    struct message message = begin_message();
    say(&message, "refused\t%ld\t%d", program->unit, (int)code);
    say(&message, "%s", "");
    size_t bytes = 0;
    for (cl_uint each = 0; program->twin && each < program->device_count; each++) {
        cl_device_id device = program->devices[each];
        if (library.clGetProgramBuildInfo(program->twin, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes)) continue;
        char* text = zeros(bytes + 1);
        library.clGetProgramBuildInfo(program->twin, device, CL_PROGRAM_BUILD_LOG, bytes, text, NULL);
        add_bytes(&message, text, strlen(text));
        free(text);
    }
    send_message(&message);
}

// The program's options, but that nobody is warned of what was added. Text that counts is not optimised: PoCL 3.1 confuses the
// variables of work-items where its optimiser has joined branches that have effects, as all have then, before a barrier that a
// condition leads past.
static char* options_of_twin(const struct program* program) {
    const char *options = program->options, *added = program->count_words ? " -w -cl-opt-disable" : " -w";
    char* taken = zeros(strlen(options) + strlen(added) + 1);
    strcat(strcpy(taken, options), added);
    for (char* at = taken; (at = strstr(at, "-Werror"));) memset(at, ' ', strlen("-Werror"));
    return taken;
}

// Makes a program's twin, once.
static void prepare(struct program* program) {
    if (program->was_prepared || program->reason) return;
    program->was_prepared = 1;
    find_devices(program);
    char* answer = NULL;
    const char* text = ask_for_text(program, &answer);
    // A text that cannot be instrumented has its reason there already.
    if (text && *text) {
        cl_context context = NULL;
        cl_int code = 0;
        library.clGetProgramInfo(program->handle, CL_PROGRAM_CONTEXT, sizeof(cl_context), &context, NULL);
        program->twin = library.clCreateProgramWithSource(context, 1, &text, NULL, &code);
        if (!code) {
            char* options = options_of_twin(program);
            code = library.clBuildProgram(program->twin, program->device_count, program->devices, options, NULL, NULL);
            free(options);
        }
        if (code) {
            tell_refusal(program, code);
            if (program->twin) library.clReleaseProgram(program->twin);
            program->twin = NULL;
        }
    }
    free(answer);
}

// The letters of a kernel's parameters; nothing if the unit has no such kernel.
static char* letters_of(const struct program* program, const char* name) {
    for (const char* line = program->kernels; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        const char *words = "kernel\t", *rest = line + strlen(words);
        if (strncmp(line, words, strlen(words))) continue;
        size_t bytes = strlen(name);
        if (strncmp(rest, name, bytes) || rest[bytes] != '\t') continue;
        rest += bytes + 1;
        char* letters = copy_of(rest);
        letters[strcspn(letters, "\n")] = 0;
        return letters;
    }
    return NULL;
}

static char* name_of(cl_kernel handle) {
    size_t bytes = 0;
    library.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &bytes);
    char* name = zeros(bytes + 1);
    library.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, bytes, name, NULL);
    return name;
}

// A kernel that the driver has just made, or of which nothing is known yet.
static struct kernel* add_kernel(cl_kernel handle) {
    drop_kernel(handle);
    struct kernel* kernel = zeros(sizeof *kernel);
    kernel->handle = handle;
    kernel->users = 1;
    kernel->name = name_of(handle);
    kernel->unit = -1;
    kernel->next = kernels;
    kernels = kernel;
    cl_uint parameters = 0;
    library.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, NULL);
    kernel->parameters = parameters;
    kernel->arguments = zeros(parameters * sizeof *kernel->arguments);
    return kernel;
}

// Gives a kernel of a program its twin.
static void add_twin(struct kernel* kernel, cl_program handle) {
    struct program* program = find_program(handle);
    if (!program || (!program->text && !program->reason)) {
        kernel->reason = "its program was not made of source text";
        return;
    }
    prepare(program);
    kernel->unit = program->unit;
    kernel->reason = program->reason;
    kernel->runs_once = program->runs_once;
    kernel->count_words = program->count_words;
    if (!program->twin) return;
    kernel->letters = letters_of(program, kernel->name);
    if (!kernel->letters || strlen(kernel->letters) != kernel->parameters) {
        kernel->reason = "its parameters are not those that the text shows";
        return;
    }
    cl_int code = 0;
    kernel->twin = library.clCreateKernel(program->twin, kernel->name, &code);
    if (code) {
        kernel->twin = NULL;
        kernel->reason = "the driver does not make the instrumented kernel";
    }
}

// Notes what a kernel was given, and gives it to its twin.
static void note_argument(struct kernel* kernel, cl_uint position, size_t bytes, const void* value) {
    if (!kernel->twin || position >= kernel->parameters) return;
    if (library.clSetKernelArg(kernel->twin, position, bytes, value)) {
        kernel->reason = "the driver does not give the instrumented kernel its arguments";
        return;
    }
    struct argument* argument = &kernel->arguments[position];
    free(argument->value);
    *argument = (struct argument){.kind = kernel->letters[position], .bytes = bytes};
    if (argument->kind == 'v' && value) {
        argument->value = memcpy(zeros(bytes), value, bytes);
    } else if (argument->kind == 'g' || argument->kind == 'c') {
        cl_mem part = value ? *(const cl_mem*)value : NULL;
        argument->bytes = 0;
        if (!part) return;
        cl_bits flags = 0;
        library.clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &argument->whole, NULL);
        library.clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof(size_t), &argument->first_byte, NULL);
        library.clGetMemObjectInfo(part, CL_MEM_SIZE, sizeof(size_t), &argument->bytes, NULL);
        library.clGetMemObjectInfo(part, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
        if (!argument->whole) argument->whole = part;
        library.clGetMemObjectInfo(argument->whole, CL_MEM_SIZE, sizeof(size_t), &argument->whole_bytes, NULL);
        argument->is_written = argument->kind == 'g' && !(flags & CL_MEM_READ_ONLY);
    }
}

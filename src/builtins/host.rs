//! Functions, methods and types of libraries that host code uses, which only read the variables that they are given: they take
//! them by value or by a reference to what is constant.
//!
//! The lists are for names that the unit does not declare; what it declares says for itself how it takes its arguments. What
//! stands in no list may change whatever it is given from then on.
//!
//! Deliberately absent: what is known by its prefix to be a function of C (`cudaMalloc`), which takes nothing by reference;
//! only the prefixes stand here.

use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// How a function takes the variables that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It reads them.
    Values,
    /// It reads them, and what it gives may be one of them.
    Through,
    /// It changes them, and keeps none.
    Exchanged,
}

/// A list of names between blanks, which is cut into them when it is first asked.
struct Names {
    list: &'static str,
    cut: OnceLock<FxHashSet<&'static str>>,
}

impl Names {
    const fn of(list: &'static str) -> Names {
        Names { list, cut: OnceLock::new() }
    }

    fn has(&self, name: &str) -> bool {
        self.cut.get_or_init(|| self.list.split_whitespace().collect()).contains(name)
    }
}

/// Prefixes of functions of C, which a capital letter follows.
const PREFIXES: [&str; 16] = [
    "cuda",
    "hip",
    "cu",
    "cublas",
    "cusparse",
    "cusolver",
    "cusolverDn",
    "cufft",
    "curand",
    "cudnn",
    "hipblas",
    "hiprand",
    "nccl",
    "nvtx",
    "nvml",
    "sdk",
];

/// Prefixes of functions of C that end with an underscore.
const UNDERSCORED: [&str; 4] = ["MPI_", "omp_", "pthread_", "rocblas_"];

/// Namespaces of libraries.
const NAMESPACES: [&str; 6] = ["std", "thrust", "cub", "hipcub", "cuda::std", "std::chrono"];

/// Functions of the C library and of the samples of CUDA.
static OF_C: Names = Names::of(
    " abort abs acos acosf aligned_alloc asin asinf assert atan atan2 atanf atof atoi atol atoll calloc cbrt \
    ceil ceilf checkCmdLineFlag checkCudaErrors clock cos cosf difftime div erf exit exp exp2 expf fabs fabsf fclose fflush \
    floor floorf fmax fmaxf fmin fminf fmod fopen fprintf fputc fputs fread free fseek fwrite getCmdLineArgumentFloat \
    getCmdLineArgumentInt getLastCudaError getenv hypot isalpha isdigit isfinite isinf isnan isspace labs ldexp llabs log \
    log10 log2 log2f logf lround lroundf malloc memcmp memcpy memmove memset nearbyint perror posix_memalign pow powf printf \
    putchar puts rand realloc remainder rint round roundf signbit sin sinf sleep snprintf sprintf sqrt sqrtf srand srand48 \
    strcat strcmp strcpy strdup strlen strncmp strncpy strstr strtof strtol strtoul system tan tanf tanh time tolower toupper \
    trunc truncf usleep vprintf ",
);

/// Functions of the libraries of C++, which are known with their namespace only.
static OF_NAMESPACES: Names = Names::of(
    " accumulate adjacent_difference advance all_of any_of copy copy_n count distance equal \
    exclusive_scan fill fill_n find gcd generate_n inclusive_scan iota lcm lower_bound make_constant_iterator \
    make_counting_iterator make_pair make_tuple nth_element partial_sum reduce sequence setprecision setw sort stable_sort \
    tabulate to_string transform transform_reduce uninitialized_fill unique upper_bound ",
);

/// Functions that give a reference to one of their arguments.
static THROUGH: Names = Names::of(" as_const clamp cref forward max min minmax move ");

/// Functions that give arguments other values.
static EXCHANGED: Names = Names::of(" swap iter_swap ");

/// Functions that end the program, those behind `assert` included.
static ENDING: Names =
    Names::of(" exit _exit _Exit quick_exit abort terminate __assert_fail __assert_rtn _wassert __assert ");

/// Functions that write through the addresses that they are given while they run, and keep none of them.
static STORING: Names = Names::of(
    " GetDevice GetDeviceCount GetDeviceProperties DeviceGetAttribute DriverGetVersion EventCreate EventElapsedTime \
    FuncGetAttributes HostAlloc Malloc MallocHost MallocManaged MallocPitch MemGetInfo \
    OccupancyMaxActiveBlocksPerMultiprocessor OccupancyMaxPotentialBlockSize RuntimeGetVersion StreamCreate ",
);

/// Functions that allocate rows: the second argument is where the distance of two rows goes, which is no less than the third.
static PITCHED: Names = Names::of(" cudaMallocPitch hipMallocPitch cuMemAllocPitch hipMemAllocPitch ");

/// Methods of containers, streams and clocks that take numbers.
static METHODS: Names = Names::of(
    " append assign at back begin capacity clear close compare count data empty end erase fill find flush \
    front good insert length pop_back precision push push_back reserve resize rfind seed seekg setf \
    shrink_to_fit size str substr width write ",
);

/// Types that keep no reference to what they are made from, by their names without a namespace.
static TYPES: Names = Names::of(
    " array basic_string bitset complex deque device_ptr device_vector duration host_vector ifstream \
    list map mt19937 mt19937_64 normal_distribution default_random_engine minstd_rand ofstream ostringstream pair queue set \
    stack string stringstream tuple uniform_int_distribution uniform_real_distribution unique_ptr shared_ptr unordered_map \
    unordered_set universal_vector valarray vector bernoulli_distribution counting_iterator constant_iterator optional ",
);

/// How the function of that name, with its namespaces, takes its arguments; nothing if it is not known.
pub fn takes(name: &str) -> Option<Takes> {
    let short = own_name(name)?;
    let has_prefix = UNDERSCORED.iter().any(|prefix| name.starts_with(prefix)) || is_of_prefix(name);
    let is_maker = short.strip_prefix("make_").is_some_and(|made| {
        made.starts_with("cuda") || made.starts_with("hip") || made.ends_with(|last: char| ('1'..='4').contains(&last))
    });
    let is_qualified = short.len() < name.len();
    if has_prefix || is_maker || OF_C.has(short) || is_qualified && OF_NAMESPACES.has(short) {
        Some(Takes::Values)
    } else if (is_qualified || matches!(short, "min" | "max")) && THROUGH.has(short) {
        Some(Takes::Through)
    } else {
        EXCHANGED.has(short).then_some(Takes::Exchanged)
    }
}

/// Whether a function ends the program.
pub fn never_comes_back(name: &str) -> bool {
    ENDING.has(name.trim_start_matches("::").trim_start_matches("std::"))
}

/// Whether a call states that its argument holds.
pub fn asserts(name: &str) -> bool {
    name == "assert"
}

/// Whether a function writes through the addresses that it is given only while it runs.
pub fn stores(name: &str) -> bool {
    let of_runtime = ["cuda", "hip"].iter().find_map(|prefix| name.trim_start_matches("::").strip_prefix(prefix));
    of_runtime.is_some_and(|short| STORING.has(short)) || PITCHED.has(name)
}

/// Whether a function allocates rows, as `cudaMallocPitch(&p, &pitch, width, height)` does.
pub fn allocates_rows(name: &str) -> bool {
    PITCHED.has(name.trim_start_matches("::"))
}

/// Whether a name begins as functions of C of a library do: `cudaMalloc`.
pub fn is_of_prefix(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| {
        let next = name.strip_prefix(prefix).and_then(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_ascii_uppercase())
    })
}

/// Whether the result of a function of the standard library is one of its arguments, for whoever assigns to it.
pub fn gives_reference(name: &str) -> bool {
    matches!(name, "tie" | "ref" | "get" | "min" | "max" | "forward")
}

/// Whether the method of that name takes numbers as values, if the unit declares none of the name.
pub fn is_method(name: &str) -> bool {
    METHODS.has(name)
}

/// Whether an object of the type of that name, with its namespaces, keeps no reference to what it is made from.
pub fn keeps_nothing(name: &str) -> bool {
    let has_prefix = ["cuda", "hip", "curand", "cublas", "cufft"].iter().any(|prefix| name.starts_with(prefix));
    own_name(name).is_some_and(|short| has_prefix || TYPES.has(short))
}

/// The last part of a name that has no namespace, or that of a library.
fn own_name(name: &str) -> Option<&str> {
    match name.rsplit_once("::") {
        Some((namespace, short)) => NAMESPACES.contains(&namespace).then_some(short),
        None => Some(name),
    }
}

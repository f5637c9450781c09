//! A device of the machine's OpenCL driver, behind functions that cannot be misused.
//!
//! The library (`libOpenCL`) is loaded at the first call. What is made here lives as long as the worker process, except
//! buffers, which are released when they are dropped.
//!
//! This is the only place of the back end with code that the compiler does not check: calls into the driver.
#![expect(unsafe_code, reason = "the functions of OpenCL are foreign; each call says why it is sound")]

use cl3::error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use cl3::types::{CL_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_kernel, cl_mem, cl_program};
use cl3::{command_queue, context, device, event, kernel, memory, platform, program};
use std::ffi::{CString, c_void};
use std::ptr;

/// What the driver says does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {code}")]
pub(super) struct DeviceError {
    what: &'static str,
    code: String,
}

fn failed(what: &'static str) -> impl FnOnce(i32) -> DeviceError {
    move |code| DeviceError { what, code: format!("{} ({code})", ClError(code)) }
}

/// A device with a context and a queue that runs one command after the other.
pub(super) struct Device {
    id: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
}

/// A program that was built.
pub(super) struct Program(cl_program);

/// A kernel with its arguments.
pub(super) struct Kernel(cl_kernel);

/// Why there is no device.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("the library libOpenCL cannot be loaded")]
    NoLibrary,
    #[error("{0}")]
    Platforms(ClError),
    #[error("its {0} drivers have no device")]
    NoDevice(usize),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Why a text was not built.
#[derive(Debug, thiserror::Error)]
pub(super) enum BuildError {
    /// What the compiler says.
    #[error("{0}")]
    Log(String),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Memory of the device.
pub(super) struct Buffer {
    memory: cl_mem,
    bytes: usize,
}

impl Device {
    /// The first GPU of all drivers, else their first device.
    pub(super) fn open() -> Result<Device, OpenError> {
        let platforms = platform::get_platform_ids().map_err(|code| match code {
            DLOPEN_RUNTIME_LOAD_FAILED => OpenError::NoLibrary,
            code => OpenError::Platforms(ClError(code)),
        })?;
        let of_kind =
            |kind| platforms.iter().find_map(|&platform| device::get_device_ids(platform, kind).ok()?.first().copied());
        let found = of_kind(device::CL_DEVICE_TYPE_GPU).or_else(|| of_kind(device::CL_DEVICE_TYPE_ALL));
        let device = found.ok_or(OpenError::NoDevice(platforms.len()))?;
        let context = context::create_context(&[device], ptr::null(), None, ptr::null_mut())
            .map_err(failed("a context cannot be made"))?;
        // SAFETY: context and device were just given by the driver and belong together.
        let queue = unsafe { command_queue::create_command_queue(context, device, 0) }
            .map_err(failed("a queue cannot be made"))?;
        Ok(Device { id: device, context, queue })
    }

    /// What it calls itself.
    pub(super) fn name(&self) -> String {
        self.text(device::CL_DEVICE_NAME)
    }

    /// The version of its driver.
    pub(super) fn driver(&self) -> String {
        self.text(device::CL_DRIVER_VERSION)
    }

    fn text(&self, what: device::cl_device_info) -> String {
        let bytes = device::get_device_data(self.id, what).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
    }

    /// The largest buffer that it allows, in bytes.
    pub(super) fn largest_buffer(&self) -> u64 {
        let bytes = device::get_device_data(self.id, device::CL_DEVICE_MAX_MEM_ALLOC_SIZE).unwrap_or_default();
        bytes.try_into().map_or(128 << 20, u64::from_ne_bytes)
    }

    /// Builds a text.
    pub(super) fn build(&self, text: &str, options: &str) -> Result<Program, BuildError> {
        let text = text.replace('\0', " ");
        let options = CString::new(options.replace('\0', " ")).unwrap_or_default();
        let program =
            program::create_program_with_source(self.context, &[&text]).map_err(failed("a program cannot be made"))?;
        match program::build_program(program, &[self.id], &options, None, ptr::null_mut()) {
            Ok(()) => Ok(Program(program)),
            Err(code) => {
                let log = program::get_program_build_data(program, self.id, program::CL_PROGRAM_BUILD_LOG);
                let log = String::from_utf8_lossy(&log.unwrap_or_default()).trim_end_matches('\0').trim().to_owned();
                Err(if log.is_empty() { failed("the build failed")(code).into() } else { BuildError::Log(log) })
            }
        }
    }

    /// Memory of so many bytes, at least one.
    pub(super) fn buffer(&self, bytes: usize) -> Result<Buffer, DeviceError> {
        let bytes = bytes.max(1);
        // SAFETY: without a flag that says so the driver does not look at the pointer to memory of the host.
        let memory = unsafe { memory::create_buffer(self.context, memory::CL_MEM_READ_WRITE, bytes, ptr::null_mut()) };
        Ok(Buffer { memory: memory.map_err(failed("memory cannot be allocated"))?, bytes })
    }

    /// Puts bytes into a buffer.
    pub(super) fn write(&self, buffer: &Buffer, at: usize, from: &[u8]) -> Result<(), DeviceError> {
        assert!(at <= buffer.bytes && from.len() <= buffer.bytes - at, "a write beyond a buffer");
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in the buffer, and the call returns only when `from` is no longer needed.
        let done = unsafe {
            command_queue::enqueue_write_buffer(
                self.queue,
                buffer.memory,
                CL_BLOCKING,
                at,
                from.len(),
                from.as_ptr().cast_mut().cast::<c_void>(),
                0,
                ptr::null(),
            )
        };
        done.map(release).map_err(failed("a buffer cannot be written"))
    }

    /// Takes bytes out of a buffer.
    pub(super) fn read(&self, buffer: &Buffer, at: usize, into: &mut [u8]) -> Result<(), DeviceError> {
        assert!(at <= buffer.bytes && into.len() <= buffer.bytes - at, "a read beyond a buffer");
        if into.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in the buffer, and the call returns only when `into` is filled.
        let done = unsafe {
            command_queue::enqueue_read_buffer(
                self.queue,
                buffer.memory,
                CL_BLOCKING,
                at,
                into.len(),
                into.as_mut_ptr().cast::<c_void>(),
                0,
                ptr::null(),
            )
        };
        done.map(release).map_err(failed("a buffer cannot be read"))
    }

    /// Runs a kernel to its end.
    pub(super) fn run(&self, kernel: &Kernel, grid: [u32; 3], block: [u32; 3]) -> Result<(), DeviceError> {
        let local = block.map(|extent| extent as usize);
        let global = [0, 1, 2].map(|axis| grid[axis] as usize * local[axis]);
        // SAFETY: both arrays have the three extents that are announced. What the kernel itself does is the user's
        // wish, and costs this process at most.
        let done = unsafe {
            command_queue::enqueue_nd_range_kernel(
                self.queue,
                kernel.0,
                3,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                ptr::null(),
            )
        };
        done.map(release).map_err(failed("the kernel cannot be launched"))?;
        command_queue::finish(self.queue).map_err(failed("the kernel did not run to its end"))
    }
}

/// Nobody waits for an event of a queue that is in order.
fn release(event: cl3::types::cl_event) {
    // SAFETY: the driver has just given it, and nothing else keeps it. A failure would only keep it a little longer.
    let _ = unsafe { event::release_event(event) };
}

impl Program {
    /// A kernel by name.
    pub(super) fn kernel(&self, name: &str) -> Result<Kernel, DeviceError> {
        let name = CString::new(name).unwrap_or_default();
        kernel::create_kernel(self.0, &name).map(Kernel).map_err(failed("the kernel is not in the program"))
    }
}

impl Kernel {
    /// Gives a parameter a value; the driver compares their sizes.
    pub(super) fn set_value(&self, position: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the pointer leads to as many bytes as are announced, and the driver copies them.
        unsafe { kernel::set_kernel_arg(self.0, position as u32, bytes.len(), bytes.as_ptr().cast::<c_void>()) }
            .map_err(failed("an argument does not fit its parameter"))
    }

    /// Gives a parameter a buffer.
    pub(super) fn set_buffer(&self, position: usize, buffer: &Buffer) -> Result<(), DeviceError> {
        let memory: *const cl_mem = &raw const buffer.memory;
        // SAFETY: a buffer is passed by a pointer to its handle, which the driver copies.
        unsafe { kernel::set_kernel_arg(self.0, position as u32, size_of::<cl_mem>(), memory.cast::<c_void>()) }
            .map_err(failed("an argument does not fit its parameter"))
    }

    /// Gives a parameter the null pointer.
    pub(super) fn set_null(&self, position: usize) -> Result<(), DeviceError> {
        let memory: cl_mem = ptr::null_mut();
        // SAFETY: OpenCL takes a handle that is null for the null pointer, and copies it.
        unsafe {
            kernel::set_kernel_arg(self.0, position as u32, size_of::<cl_mem>(), (&raw const memory).cast::<c_void>())
        }
        .map_err(failed("an argument does not fit its parameter"))
    }

    /// Gives a parameter local memory.
    pub(super) fn set_local(&self, position: usize, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: of local memory only the size is given, with a null pointer.
        unsafe { kernel::set_kernel_arg(self.0, position as u32, bytes as usize, ptr::null()) }
            .map_err(failed("an argument does not fit its parameter"))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: nothing else releases the handle. If the driver fails to, the memory is lost until the process ends.
        let _ = unsafe { memory::release_mem_object(self.memory) };
    }
}

//! The unwinder of the released static build: none. A panic ends the process at once there (Cargo.toml), the tables that an unwinder
//! reads are left out (`tables.ld`), and a stripped binary names no function; but the standard library asks for a trace in its own
//! panic hook, and with that come libunwind and half of a reader of debug information, 70 KB. That there is no frame to look at leaves
//! them out.
#![allow(unsafe_code, reason = "the names by which the standard library asks for an unwinder")]

use std::ffi::{c_int, c_void};

/// `_URC_END_OF_STACK`: no frame is left.
const END_OF_STACK: c_int = 5;

/// Shows no frame.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_show: *const c_void, _with: *mut c_void) -> c_int {
    END_OF_STACK
}

/// Nobody unwinds, so that there is nothing to go on with.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume(_exception: *mut c_void) -> ! {
    std::process::abort()
}

/// What is asked of a frame, of which there are none.
macro_rules! of_no_frame {
    ($($name:ident($($argument:ident),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: usize),*) -> usize {
                0
            }
        )*
    };
}

of_no_frame! {
    _Unwind_FindEnclosingFunction(_address);
    _Unwind_GetCFA(_frame);
    _Unwind_GetDataRelBase(_frame);
    _Unwind_GetIP(_frame);
    _Unwind_GetIPInfo(_frame, _before);
    _Unwind_GetLanguageSpecificData(_frame);
    _Unwind_GetRegionStart(_frame);
    _Unwind_GetTextRelBase(_frame);
    _Unwind_SetGR(_frame, _register, _value);
    _Unwind_SetIP(_frame, _value);
}

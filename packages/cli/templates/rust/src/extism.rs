//! What a plugin uses of Extism's kernel: its input, its output, and the values that the host keeps for it.
//! https://extism.org/docs/concepts/pdk
#![allow(dead_code)]

mod kernel {
    #[link(wasm_import_module = "extism:host/env")]
    extern "C" {
        pub fn input_length() -> u64;
        pub fn input_load_u8(at: u64) -> u8;
        pub fn input_load_u64(at: u64) -> u64;
        pub fn output_set(block: u64, length: u64);
        pub fn error_set(block: u64);
        pub fn alloc(length: u64) -> u64;
        pub fn length(block: u64) -> u64;
        pub fn load_u8(at: u64) -> u8;
        pub fn load_u64(at: u64) -> u64;
        pub fn store_u8(at: u64, value: u8);
        pub fn store_u64(at: u64, value: u64);
        pub fn config_get(key: u64) -> u64;
        pub fn var_get(key: u64) -> u64;
        pub fn var_set(key: u64, value: u64);
        pub fn log_info(text: u64);
    }
}

fn collect(length: u64, load_u64: impl Fn(u64) -> u64, load_u8: impl Fn(u64) -> u8) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length as usize);
    while bytes.len() as u64 + 8 <= length {
        bytes.extend_from_slice(&load_u64(bytes.len() as u64).to_le_bytes());
    }
    while (bytes.len() as u64) < length {
        bytes.push(load_u8(bytes.len() as u64));
    }
    bytes
}

/// What the host has sent.
pub fn input() -> Vec<u8> {
    unsafe {
        let length = kernel::input_length();
        collect(length, |at| kernel::input_load_u64(at), |at| kernel::input_load_u8(at))
    }
}

/// What is in a block of the kernel's memory.
pub fn load(block: u64) -> Vec<u8> {
    unsafe {
        let length = kernel::length(block);
        collect(length, |at| kernel::load_u64(block + at), |at| kernel::load_u8(block + at))
    }
}

/// Puts bytes into a block for the host, and returns its offset.
pub fn store(bytes: &[u8]) -> u64 {
    unsafe {
        let block = kernel::alloc(bytes.len() as u64);
        let mut at = block;
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            kernel::store_u64(at, u64::from_le_bytes(eight));
            at += 8;
        }
        for byte in words.remainder() {
            kernel::store_u8(at, *byte);
            at += 1;
        }
        block
    }
}

/// Bytes as text.
pub fn text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "input: invalid UTF-8".to_string())
}

/// Sends the result of a call to the host. Returns what an export returns.
pub fn end_call(result: Result<Vec<u8>, String>) -> i32 {
    match result {
        Ok(bytes) => {
            unsafe { kernel::output_set(store(&bytes), bytes.len() as u64) };
            0
        }
        Err(message) => {
            unsafe { kernel::error_set(store(message.as_bytes())) };
            1
        }
    }
}

/// A value of the host's configuration for this plugin.
pub fn config(key: &str) -> Option<String> {
    let block = unsafe { kernel::config_get(store(key.as_bytes())) };
    if block == 0 { None } else { String::from_utf8(load(block)).ok() }
}

/// What was kept under a name in an earlier call.
pub fn variable(name: &str) -> Option<Vec<u8>> {
    let block = unsafe { kernel::var_get(store(name.as_bytes())) };
    if block == 0 { None } else { Some(load(block)) }
}

/// Keeps bytes under a name until the plugin is unloaded.
pub fn set_variable(name: &str, bytes: &[u8]) {
    unsafe { kernel::var_set(store(name.as_bytes()), store(bytes)) }
}

/// Writes a line to the host's log.
pub fn log(text: &str) {
    unsafe { kernel::log_info(store(text.as_bytes())) }
}

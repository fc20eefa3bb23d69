/* The functions that hosts provide to every plugin, besides those that a schema names. */

/** The import module of Extism's runtime: https://github.com/extism/extism/blob/main/runtime/src/plugin.rs */
export const kernelModule = 'extism:host/env';

/** The import module of the host's own functions, which a schema names as `imports`. */
export const userModule = 'extism:host/user';

export const wasiModule = 'wasi_snapshot_preview1';

/** The import module of both kinds of functions before Extism 1.0. Functions of the runtime had the prefix `extism_`. */
export const olderModule = 'env';

export const kernelFunctions = [
  ...(['alloc', 'free', 'length', 'length_unsafe', 'load_u8', 'load_u64', 'store_u8', 'store_u64'] as const),
  ...(['input_set', 'input_offset', 'input_length', 'input_load_u8', 'input_load_u64'] as const),
  ...(['output_set', 'output_offset', 'output_length', 'error_set', 'error_get', 'reset', 'memory_bytes'] as const),
  ...(['config_get', 'var_get', 'var_set', 'http_request', 'http_status_code', 'http_headers'] as const),
  ...(['get_log_level', 'log_trace', 'log_debug', 'log_info', 'log_warn', 'log_error'] as const),
] as const;
export type KernelFunction = (typeof kernelFunctions)[number];

/** Functions that only the older module has, besides those of the kernel. */
export const olderOnlyFunctions = ['load_u32', 'store_u32'] as const;

export const olderPrefix = 'extism_';

export const olderKernelFunctions: readonly string[] = [...kernelFunctions, ...olderOnlyFunctions].map(
  (name) => `${olderPrefix}${name}`,
);

/** https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md */
export const wasiFunctions: readonly string[] = [
  'args_get args_sizes_get clock_res_get clock_time_get environ_get environ_sizes_get',
  'fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights',
  'fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get',
  'fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write',
  'path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink',
  'path_remove_directory path_rename path_symlink path_unlink_file',
  'poll_oneoff proc_exit proc_raise random_get sched_yield sock_accept sock_recv sock_send sock_shutdown',
].flatMap((names) => names.split(' '));

/** Whether an import module belongs to the tracing of instrumented modules. Every tracing adapter provides all its functions. */
export function isTracingModule(module: string): boolean {
  return module.startsWith('dylibso:observe/') || module === 'dylibso_observe';
}

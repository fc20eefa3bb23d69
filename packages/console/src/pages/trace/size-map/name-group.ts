/**
 * The part of a program that a function's name indicates: a crate, package, namespace or class, or the prefix of a C
 * library. Otherwise `other`.
 */
export function nameGroup(name: string): string {
  const start = name.slice(0, 200); // names come from modules and may be very long
  return pathRoot(start) ?? packageName(start) ?? prefix(start) ?? 'other';
}

/** Rust and C++: `<alloc::vec::Vec<T> as core::ops::Drop>::drop`, `core::fmt::write`, `void std::sort<int*>(int*)`. */
function pathRoot(name: string): string | undefined {
  return /(?:^|[<&*\s(])([A-Za-z_]\w*)::/.exec(name)?.[1];
}

/** Go: `github.com/evanw/esbuild/internal/js_parser.(*parser).visit`; imports have the same form. */
function packageName(name: string): string | undefined {
  const path = name.split('(', 1)[0] ?? '';
  const last = path.slice(path.lastIndexOf('/') + 1);
  return /^([\w-]+)\./.exec(last)?.[1];
}

/** C: `sqlite3VdbeExec`, `png_read_row`, `__wasi_fd_write`. */
function prefix(name: string): string | undefined {
  return /^_*([a-z][a-z0-9]+)(?=[A-Z_])/.exec(name)?.[1];
}

/**
 * Which part of a program a function belongs to, as far as its name tells: the crate, the package, the namespace, the class, or the
 * prefix that C programs put before the names of one library. `other` where it tells nothing.
 */
export function nameGroup(name: string): string {
  const start = name.slice(0, 200); // names come with modules, and may be as long as those
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

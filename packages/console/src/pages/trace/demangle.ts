import { createDemangler, type Demangle } from '@tenon/trace/demangle';

/** So long all the names of a module may take. There may be a million, and each may be made to take milliseconds. */
const maxMs = 3_000;

/**
 * Writes names as people do, as long as there is time; then they stay as they are.
 *
 * @param wasm the demangler's module, if it could be fetched
 * @param clock milliseconds
 */
export function createBoundedDemangler(wasm: ArrayBuffer | undefined, clock: () => number): Demangle {
  if (wasm === undefined) return (name) => name;
  const demangle = createDemangler(wasm);
  let leftMs = maxMs;
  return (name) => {
    if (leftMs <= 0 || !name.startsWith('_')) return name; // as all mangled names do
    const startMs = clock();
    const shown = demangle(name);
    leftMs -= clock() - startMs;
    return shown;
  };
}

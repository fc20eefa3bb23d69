import { createDemangler, type Demangle } from '@tenon/trace/demangle';

/** For all names of a module: it may have a million, each made to take milliseconds. */
const maxMs = 3_000;

/**
 * Demangles names until the time is used up, and returns further names unchanged.
 *
 * @param wasm the demangler's module, if the page could fetch it
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

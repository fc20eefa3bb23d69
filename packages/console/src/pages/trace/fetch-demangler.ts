import demanglerUrl from 'gecko-profiler-demangle/index_bg.wasm?url';

/**
 * Fetches the demangler for names of Rust and C++. Workers can't fetch, so the page does when it opens.
 *
 * @returns `undefined` if that fails: then names stay mangled
 */
export async function fetchDemangler(): Promise<ArrayBuffer | undefined> {
  try {
    const response = await fetch(demanglerUrl, { credentials: 'omit' });
    return response.ok ? await response.arrayBuffer() : undefined;
  } catch {
    return undefined;
  }
}

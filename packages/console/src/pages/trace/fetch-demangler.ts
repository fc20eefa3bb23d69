import demanglerUrl from 'gecko-profiler-demangle/index_bg.wasm?url';

/**
 * Fetches what writes names of Rust and C++ as people do. Workers can't fetch anything, so the page does, as it is opened.
 *
 * @returns `undefined` where it can't be had: then names stay as compilers write them
 */
export async function fetchDemangler(): Promise<ArrayBuffer | undefined> {
  try {
    const response = await fetch(demanglerUrl, { credentials: 'omit' });
    return response.ok ? await response.arrayBuffer() : undefined;
  } catch {
    return undefined;
  }
}

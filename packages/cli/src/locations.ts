import manifest from '../package.json' with { type: 'json' };

/** Where the files lie that commands read or run, in the source tree. The package has `packaged/locations.ts` instead. */
export const locations: Locations = {
  traceWorker: new URL('./trace/worker.ts', import.meta.url),
  simulationWorker: new URL('./testing/worker.ts', import.meta.url),
  templates: new URL('../templates/', import.meta.url),
  demangler: new URL(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')),
  neededNode: manifest.engines.node,
};

export interface Locations {
  /** The script of the thread that `tenon trace` runs modules in. */
  readonly traceWorker: URL;
  /** The script of the thread that runs simulations and generators. */
  readonly simulationWorker: URL;
  /** The folder with a folder for each template of `tenon plugin init`. */
  readonly templates: URL;
  /** The WebAssembly module that demangles Rust's and C++'s names. */
  readonly demangler: URL;
  /** The versions of Node.js that run `tenon`. */
  readonly neededNode: string;
}

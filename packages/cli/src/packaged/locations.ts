import type { Locations } from '../locations.ts';

/** Where the same files lie in the package: beside the bundled code. */
export const locations: Locations = {
  traceWorker: new URL('worker.js', import.meta.url),
  simulationWorker: new URL('simulation-worker.js', import.meta.url),
  templates: new URL('templates/', import.meta.url),
  demangler: new URL('demangler.wasm', import.meta.url),
  neededNode: '>=22.16',
};

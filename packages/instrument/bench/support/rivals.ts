import binaryen from 'binaryen';

/**
 * Milliseconds in which binaryen does a comparable job: a call with the function's number at the start of each function and
 * before each return, which is what its `log-execution` does. Undefined for a module that it does not read.
 */
export function measureBinaryenMs(bytes: Uint8Array): number | undefined {
  const start = performance.now();
  try {
    const module = binaryen.readBinary(bytes);
    module.setFeatures(binaryen.Features.All);
    module.runPasses(['log-execution']);
    module.emitBinary();
    const ms = performance.now() - start;
    module.dispose();
    return ms;
  } catch {
    return undefined;
  }
}

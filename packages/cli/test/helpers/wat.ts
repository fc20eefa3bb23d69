import loadWabt from 'wabt';

const wabt = await loadWabt();

/** Assembles a module's text. */
export function wat(text: string): Buffer {
  const module = wabt.parseWat('test.wat', text, { simd: true, threads: true });
  try {
    return Buffer.from(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

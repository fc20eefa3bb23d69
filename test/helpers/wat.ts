import loadWabt from 'wabt';

const features = {
  exceptions: true,
  mutable_globals: true,
  sat_float_to_int: true,
  sign_extension: true,
  simd: true,
  threads: true,
  multi_value: true,
  tail_call: true,
  bulk_memory: true,
  reference_types: true,
  memory64: true,
  extended_const: true,
  relaxed_simd: true,
  multi_memory: true,
  code_metadata: true,
  annotations: true,
};

const wabt = await loadWabt();

/** Assembles text exactly as it stands. For what wabt does not know (GC, typed references) see `gcWat`. */
export function wat(text: string, options: { names?: boolean; relocatable?: boolean } = {}): Uint8Array {
  const module = wabt.parseWat('test.wat', new TextEncoder().encode(text), features);
  try {
    const { buffer } = module.toBinary({
      write_debug_names: options.names ?? true,
      relocatable: options.relocatable ?? false,
    });
    return new Uint8Array(buffer);
  } finally {
    module.destroy();
  }
}

/** Assembles text with GC and typed references, by way of binaryen's intermediate form. */
export async function gcWat(text: string): Promise<Uint8Array> {
  const { default: binaryen } = await import('binaryen');
  const module = binaryen.parseText(text);
  try {
    // By name, as the declarations of binaryen do not know all of its features.
    const beyondEngines = new Set(['All', 'SharedEverything', 'StackSwitching', 'CompactImports']);
    const wanted = Object.entries(binaryen.Features).filter(([name]) => !beyondEngines.has(name));
    module.setFeatures(wanted.map(([, feature]) => Number(feature)).reduce((mask, feature) => mask | feature, 0));
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

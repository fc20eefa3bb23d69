import { readFileSync } from 'node:fs';
import binaryen from 'binaryen';

const folder = new URL('../../packages/instrument/src/scan/', import.meta.url);

/** The generated file. */
export const kernelPath = new URL('scan-kernel-bytes.ts', folder);

/** The contents of the generated file: the assembled kernel, with `$step` inlined four times. */
export function assembleKernel() {
  const module = binaryen.parseText(readFileSync(new URL('scan-kernel.wat', folder), 'utf8'));
  try {
    module.setFeatures(binaryen.Features.MutableGlobals | binaryen.Features.Multivalue);
    if (!module.validate()) throw new Error('The kernel is not valid');
    binaryen.setOptimizeLevel(3);
    binaryen.setShrinkLevel(0);
    binaryen.setAlwaysInlineMaxSize(80);
    binaryen.setPassArgument('no-inline', 'medium');
    module.runPasses(['no-inline', 'inlining-optimizing']);
    module.optimize();
    const base64 = Buffer.from(module.emitBinary()).toString('base64');
    const lines = (base64.match(/.{1,110}/g) ?? []).map((line) => `  '${line}'`);
    return `// Made of scan-kernel.wat by \`node scripts/write-scan-kernel.mjs\`; a test holds them equal.\nexport const kernelBase64: string =\n${lines.join(' +\n')};\n`;
  } finally {
    module.dispose();
  }
}

// Writes packages/instrument/src/scan/scan-kernel-bytes.ts: the kernel of the scan, assembled.
//
//   node scripts/write-scan-kernel.mjs
import './lib/require-node.mjs';
import { writeFileSync } from 'node:fs';

const { assembleKernel, kernelPath } = await import('./lib/scan-kernel.mjs');

writeFileSync(kernelPath, assembleKernel());

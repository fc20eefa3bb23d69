// Writes packages/trace/src/flame-graph/viewer-bundle.ts: the flame graph's viewer as one script.
//
//   node scripts/write-flame-graph-viewer.mjs
import './lib/require-node.mjs';
import { writeFileSync } from 'node:fs';

// Only now: it imports TypeScript, which an older Node.js can't even load.
const { bundleViewer, viewerBundlePath } = await import('./lib/flame-graph-viewer.mjs');

writeFileSync(viewerBundlePath, await bundleViewer());

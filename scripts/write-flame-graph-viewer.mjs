// Writes packages/trace/src/flame-graph/viewer-bundle.ts anew: the flame graph's viewer as one script.
//
//   node scripts/write-flame-graph-viewer.mjs
import { writeFileSync } from 'node:fs';
import { bundleViewer, viewerBundlePath } from './lib/flame-graph-viewer.mjs';

writeFileSync(viewerBundlePath, await bundleViewer());

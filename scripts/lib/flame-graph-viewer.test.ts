import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bundleViewer, viewerBundlePath } from './flame-graph-viewer.mjs';

describe('viewer-bundle.ts', () => {
  it('is made of the viewer as it stands: node scripts/write-flame-graph-viewer.mjs', async () => {
    assert.equal(await readFile(viewerBundlePath, 'utf8'), await bundleViewer());
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../helpers/server.ts';
import { plants } from './plants.ts';

describe('plants', () => {
  for (const [name, { file, from }] of Object.entries(plants)) {
    it(`${name} fits the server as it is`, async () => {
      const source = await readFile(join(root, 'packages/server/src', file), 'utf8');
      assert.equal(source.split(from).length - 1, 1);
    });
  }
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createSourceLookup } from '../../src/debug-info/index.ts';
import { instrument, readOffsetMap } from '../../src/index.ts';
import { outputInstruction } from '../../src/rewrite/offset-map.ts';
import { instructionsOf } from '../support/check-offset-map.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');

/** Modules of AssemblyScript, by the compiler of the template for plugins. Node.js reads the same source maps. */
describe('source locations from the source maps of AssemblyScript', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-source-map-'));
    await copyFile(join(root, 'packages/cli/templates/assemblyscript/package.json'), join(folder, 'package.json'));
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
    // The source ends in .as, because the workspace's TypeScript would take it for its own.
    await copyFile(join(import.meta.dirname, 'programs/steps.as'), join(folder, 'steps.ts'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function compile(...flags: readonly string[]): Promise<{ bytes: Uint8Array; text: string }> {
    const options = ['--outFile', 'steps.wasm', '--sourceMap', ...flags];
    await run(process.execPath, ['node_modules/assemblyscript/bin/asc.js', 'steps.ts', ...options], { cwd: folder });
    const text = await readFile(join(folder, 'steps.wasm.map'), 'utf8');
    return { bytes: await readFile(join(folder, 'steps.wasm')), text };
  }

  for (const flags of [['--debug'], ['--optimize']]) {
    it(`are those of Node.js at every instruction, before and after instrumentation: ${flags}`, async () => {
      const { bytes, text } = await compile(...flags);
      const lookup = createSourceLookup(bytes, { sourceMap: text });
      const parsed = JSON.parse(text);
      const { sourceRoot } = parsed; // which Node.js leaves out
      const reference = new SourceMap(parsed);
      const { bytes: output, sourceMap } = instrument(bytes, { sourceMap: text, codeMap: true });
      const map = readOffsetMap(output);
      const byMap = createSourceLookup(output, { debugFile: bytes, sourceMap: text });
      const rewritten = createSourceLookup(output, { sourceMap });
      assert.ok(lookup && map && byMap && rewritten);
      let known = 0;
      for (const offset of instructionsOf(bytes).flat()) {
        const found = lookup.locate(offset - lookup.codeStart);
        const moved = outputInstruction(map, offset - lookup.codeStart);
        assert.deepEqual(byMap.locate(moved), found, `at ${offset}, by the original`);
        assert.deepEqual(rewritten.locate(moved), found, `at ${offset}, rewritten`);
        const [place] = found;
        if (place === undefined) continue; // Node.js also takes the mapping of an earlier function
        const entry = reference.findEntry(0, offset);
        assert.ok('originalSource' in entry);
        assert.deepEqual(
          [place.file, place.line, place.column],
          [`${sourceRoot}/${entry.originalSource}`, entry.originalLine + 1, entry.originalColumn + 1],
        );
        known++;
      }
      assert.ok(known > 20, `${known} instructions have a source`);
      assert.ok(lookup.files().includes(`${sourceRoot}/steps.ts`));
    });
  }
});

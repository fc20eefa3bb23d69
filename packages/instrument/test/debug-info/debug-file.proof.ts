import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { customSection as encodeCustomSection, text } from '../../../../test/helpers/module-bytes.ts';
import { readSections } from '../../src/binary/sections.ts';
import { createSourceLookup, findDebugInfo } from '../../src/debug-info/index.ts';
import { instrument } from '../../src/index.ts';
import { compileDebug, debugPrograms, whyNotCompiled } from '../support/compile-debug.ts';

const skip = whyNotCompiled();

/** A module without some of its sections. */
function without(bytes: Uint8Array, isLeftOut: (name: string) => boolean): Uint8Array {
  const kept = readSections(bytes).filter(({ name }) => !isLeftOut(name));
  return Uint8Array.from(
    Buffer.concat([bytes.subarray(0, 8), ...kept.map(({ start, end }) => bytes.subarray(start, end))]),
  );
}

function debugSections(bytes: Uint8Array): Record<string, string> {
  const found = readSections(bytes).filter(({ name }) => name.startsWith('.debug_'));
  return Object.fromEntries(
    found
      .map(({ name, contentStart, end }) => [name, bytes.subarray(contentStart, end)])
      .map(([name, contents]) => [name, Buffer.from(contents as Uint8Array).toString('base64')]),
  );
}

describe('instrument() with the DWARF in another file', { skip }, () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-debug-file-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const [index, program] of debugPrograms.entries()) {
    it(`${program.name}: rewrites it as in one file`, async () => {
      const whole = await compileDebug(program, join(folder, `${index}.wasm`));
      const bare = without(whole, (name) => name.startsWith('.debug_'));
      const main = Uint8Array.from([...bare, ...encodeCustomSection('external_debug_info', text('app.debug.wasm'))]);
      const expected = instrument(whole).bytes;
      assert.ok(Object.keys(debugSections(expected)).length > 3);
      // Emscripten leaves the code out of the file.
      for (const debugFile of [whole, without(whole, (name) => name === 'code')]) {
        const result = instrument(main, { debugFile, debugFileUrl: 'new.debug.wasm' });
        assert.deepEqual(result.report.notes, []);
        assert.equal(findDebugInfo(result.bytes).debugFileUrl, 'new.debug.wasm');
        assert.deepEqual(debugSections(result.bytes), {});
        assert.ok(result.debugFile !== undefined && WebAssembly.validate(result.debugFile));
        assert.deepEqual(debugSections(result.debugFile), debugSections(expected));
        assert.equal(findDebugInfo(result.debugFile).debugFileUrl, undefined);
        const lookup = createSourceLookup(result.bytes, { debugFile: result.debugFile });
        assert.deepEqual(lookup?.files(), createSourceLookup(expected)?.files());
      }
    });
  }

  it('drops the section with a note if the file is missing, malformed, or of another module', async () => {
    const [first, second] = debugPrograms;
    assert.ok(first && second);
    const whole = await compileDebug(first, join(folder, 'first.wasm'));
    const other = await compileDebug(second, join(folder, 'second.wasm'));
    const bare = without(whole, (name) => name.startsWith('.debug_'));
    const main = Uint8Array.from([...bare, ...encodeCustomSection('external_debug_info', text('app.debug.wasm'))]);
    const bad = [
      undefined,
      other,
      bare,
      whole.subarray(0, 50_0),
      new Uint8Array(),
      without(whole, (name) => name === '.debug_abbrev'),
    ];
    for (const debugFile of bad) {
      const { debugFile: rewritten, report, bytes } = instrument(main, { debugFile });
      assert.equal(rewritten, undefined);
      assert.equal(findDebugInfo(bytes).debugFileUrl, undefined);
      assert.deepEqual(
        report.notes.map((note) => note.code === 'section_dropped' && note.section),
        ['external_debug_info'],
      );
    }
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument, readOffsetMap } from '../../src/index.ts';
import { outputInstruction, outputOffset } from '../../src/rewrite/offset-map.ts';
import type { InstrumentOptions } from '../../src/select/config.ts';
import { instructionsOf } from '../support/check-offset-map.ts';
import { compileDebug, debugPrograms, whyNotCompiled } from '../support/compile-debug.ts';
import {
  assertSameTexts,
  compileTwoFiles,
  dumpDebugInfo,
  mapDump,
  symbolize,
  verifyErrors,
} from '../support/debug-tools.ts';

const optionSets: readonly InstrumentOptions[] = [
  {},
  { allowed: ['other', 'work', 'sum'] },
  { fuel: 1_000_000, memory: true, coverage: true },
];

const programs = [
  ...debugPrograms.map((program) => ({
    name: program.name,
    compile: (file: string) => compileDebug(program, file),
  })),
  ...['-gdwarf-2', '-gdwarf-3', '-gdwarf-4', '-gdwarf-5'].flatMap((version) =>
    ['-O0', '-O2'].map((level) => ({
      name: `two files of C, ${version} ${level}`,
      compile: (file: string) => compileTwoFiles([version, level], file),
    })),
  ),
  {
    name: 'two files of C, with type units, macros and address ranges',
    compile: (file: string) =>
      compileTwoFiles(['-gdwarf-4', '-O2', '-fdebug-types-section', '-fdebug-macro', '-gdwarf-aranges'], file),
  },
  {
    name: 'two files of C, with an index of names',
    compile: (file: string) => compileTwoFiles(['-gdwarf-5', '-O2', '-fdebug-macro', '-gpubnames'], file),
  },
];

describe('rewritten DWARF', { skip: whyNotCompiled() }, () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-dwarf-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function instrumentFile(input: Uint8Array, options: InstrumentOptions) {
    const { bytes, report } = instrument(input, { ...options, codeMap: true });
    const file = join(folder, 'output.wasm');
    await writeFile(file, bytes);
    const map = readOffsetMap(bytes);
    assert.ok(map);
    assert.deepEqual(
      report.notes.filter(({ code }) => code === 'section_dropped'),
      [],
    );
    return { file, map, bytes };
  }

  for (const { name, compile } of programs) {
    it(`has the same meaning for every instruction: ${name}`, async (test) => {
      const inputFile = join(folder, 'input.wasm');
      const input = await compile(inputFile);
      const dumps = [['--debug-info'], ['--debug-types'], ['--debug-line'], ['--debug-macro'], ['--debug-names']];
      const before = dumps.map((flags) => dumpDebugInfo(inputFile, flags));
      const errors = verifyErrors(inputFile);
      let expected: string[] | undefined;
      for (const options of optionSets) {
        const { file, map } = await instrumentFile(input, options);
        const offsets = instructionsOf(input).flatMap((body) => body.map((offset) => offset - map.inputCodeStart));
        expected ??= symbolize(inputFile, offsets);
        assert.equal(expected.length, offsets.length);
        assert.ok(expected.filter((text) => !text.startsWith('??')).length > 0.9 * expected.length);
        const what = JSON.stringify(options);
        const found = symbolize(
          file,
          offsets.map((offset) => outputInstruction(map, offset)),
        );
        assertSameTexts(found, expected, what);
        assert.deepEqual(verifyErrors(file), errors, what);
        dumps.forEach((flags, at) => {
          const mapped = mapDump(before[at] as string[], (address) => outputOffset(map, address));
          assertSameTexts(dumpDebugInfo(file, flags), mapped, `${what} ${flags}`);
        });
      }
      test.diagnostic(`${expected?.length} instructions`);
    });
  }
});

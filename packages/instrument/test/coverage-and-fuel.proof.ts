import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { encode } from '../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../test/helpers/call-trees/make-program.ts';
import { body, emptyType, moduleOf, repeated, section, sized, vector } from '../../../test/helpers/module-bytes.ts';
import { scenarios } from '../../../test/helpers/real-programs/scenarios.ts';
import { describeModule, type InstrumentOptions, instrument } from '../src/index.ts';
import { checkCallTree } from './support/check-call-tree.ts';
import { checkOffsetMap } from './support/check-offset-map.ts';
import { corpusIsMissing } from './support/corpus.ts';
import { corpusScenarios } from './support/corpus-scenarios.ts';
import { makeRandomProgram } from './support/counting/random-program.ts';
import { checkMutant, mutationOriginals } from './support/mutate.ts';
import { runScenario } from './support/run-scenario.ts';
import { samples } from './support/samples.ts';
import { specIsMissing, unpackSpec } from './support/spec-archives.ts';
import { runScript } from './support/spec-script.ts';
import { stopFunctions } from './support/stop-functions.ts';

const fuel = Number.MAX_SAFE_INTEGER;

const combinations: readonly InstrumentOptions[] = [
  { coverage: true },
  { fuel },
  { coverage: true, fuel },
  { trace: false, coverage: true, fuel },
];

describe("coverage and fuel on the specification's tests", { skip: specIsMissing }, () => {
  if (specIsMissing) return;
  const { scripts, remove } = unpackSpec();
  after(remove);

  const validModules = () =>
    scripts.flatMap((script) =>
      fs.globSync('*.wasm', { cwd: script }).flatMap((file) => {
        const bytes = new Uint8Array(fs.readFileSync(path.join(script, file)));
        return WebAssembly.validate(bytes) ? [{ name: `${path.basename(script)}/${file}`, bytes }] : [];
      }),
    );

  it('keeps every valid module valid', () => {
    for (const { name, bytes } of validModules()) {
      for (const options of [...combinations, { trace: false, fuel, onOutOfFuel: 'call' } as const]) {
        assert.ok(WebAssembly.validate(instrument(bytes, options).bytes), `${name} with ${JSON.stringify(options)}`);
      }
    }
  });

  it('changes the outcome of no command', () => {
    for (const script of scripts) {
      const plain = runScript(script, { transform: (bytes) => bytes, imports: {}, afterCommand() {} });
      const probed = runScript(script, {
        transform: (bytes) => instrument(bytes, { trace: false, coverage: true, fuel }).bytes,
        imports: {},
        afterCommand() {},
      });
      assert.deepEqual(probed, plain);
    }
  });

  it('stops every module whatever it is called with, at the same point each time', (test) => {
    let calls = 0;
    let stopped = 0;
    const looping = new Set<string>();
    for (const { name, bytes } of validModules()) {
      const found = stopFunctions(bytes, name);
      calls += found.calls;
      stopped += found.stopped;
      if (found.stopped > 0) looping.add(name);
    }
    test.diagnostic(`${calls} calls, ${stopped} of them stopped, in ${looping.size} modules`);
    assert.ok(calls > 10_000 && looping.size > 20);
  });
});

describe('coverage and fuel on programs whose events are known', () => {
  for (const options of combinations.slice(0, 3)) {
    it(`keeps the events with ${JSON.stringify(options)}, and counts the calls`, () => {
      for (let seed = 1; seed <= 600; seed++) checkCallTree(seed, options);
    });
  }
});

describe('coverage and fuel beside the offset map', () => {
  it('keeps the offset of each instruction', async () => {
    const trees = Array.from({ length: 150 }, (_, seed) => encode(makeProgram(seed), seed));
    const programs = Array.from({ length: 150 }, (_, seed) => makeRandomProgram(seed).bytes);
    for (const bytes of [...Object.values(await samples()), ...trees, ...programs]) {
      for (const options of combinations) checkOffsetMap(bytes, options);
    }
  });
});

describe('coverage and fuel on hostile input', async () => {
  const originals = await mutationOriginals();

  it('takes 30000 mutations', () => {
    const options = { trace: false, coverage: true, fuel: 100 };
    let accepted = 0;
    for (let seed = 1; seed <= 30_000; seed++) if (checkMutant(seed, originals, options)) accepted++;
    assert.ok(accepted > 600, `${accepted} valid modules`);
  });

  it('counts as many functions as engines accept globals, and says which are left', () => {
    const code = [0x20, 0, 0x04, 0x40, 0x01, 0x05, 0x01, 0x0b, 0x01];
    const input = moduleOf(
      [section.type, [1, 0x60, 1, 0x7f, 0]],
      [section.function, repeated(300_000, [0])],
      [section.code, repeated(300_000, [...body(...code)])],
    );
    const { bytes, report } = instrument(input, { trace: false, coverage: true, fuel: 9 });
    assert.ok(WebAssembly.validate(bytes));
    assert.deepEqual(
      report.notes.map((note) => ('functionIndex' in note ? [note.code, note.functionIndex] : note.code)),
      [['function_left_uncounted', 249_999]],
    );
  });

  it('leaves out a body that would be too long with counters, and refuses it with fuel', () => {
    const branches = (count: number) =>
      moduleOf(
        [section.type, vector([[0x60, 1, 0x7f, 0], emptyType.slice(1)])],
        [section.function, vector([[0], [1]])],
        [
          section.code,
          vector([sized([[0], Buffer.alloc(count * 4, Uint8Array.of(0x20, 0, 0x0d, 0)), [0x0b]]), body(0x01)]),
        ],
      );
    const input = branches(600_000);
    const { bytes, report } = instrument(input, { trace: false, coverage: true });
    assert.ok(WebAssembly.validate(bytes));
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['function_left_uncounted'],
    );
    const longer = branches(1_100_000);
    assert.throws(() => instrument(longer, { trace: false, fuel: 9 }), { code: 'unsupported_feature' });
  });
});

describe('coverage and fuel on real modules', () => {
  for (const scenario of [...Object.keys(scenarios), ...(corpusIsMissing ? [] : Object.keys(corpusScenarios))]) {
    it(`${scenario}: the same results`, async () => {
      const plain = await runScenario(scenario, 'plain');
      const probed = await runScenario(scenario, 'probed');
      assert.deepEqual(probed.result, plain.result);
      assert.ok(probed.modules.length > 0 && probed.modules.every(({ isValid }) => isValid));
    });
  }

  it('describes the modules without added imports', () => {
    const input = moduleOf([section.type, emptyType], [section.function, [1, 0]], [section.code, [1, ...body()]]);
    assert.deepEqual(describeModule(instrument(input, { trace: false, coverage: true, fuel }).bytes).imports, []);
  });
});

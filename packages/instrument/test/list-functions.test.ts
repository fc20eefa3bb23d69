import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { instrument, listFunctions } from '../src/index.ts';
import { samples } from './support/samples.ts';

const input = wat(`(module
  (import "env" "log" (func $print (param i32)))
  (import "dylibso:observe/api" "span-enter" (func $span))
  (import "env" "memory" (memory 1))
  (func $helper (call $print (i32.const 1)))
  (func $run (export "start") (export "go") (call $helper)))`);

const withoutNames = wat(
  `(module (import "env" "log" (func (param i32))) (import "env" "shown" (func)) (export "seen" (func 1))
    (func) (func (export "start") (nop)))`,
  { names: false },
);

describe('listFunctions()', () => {
  it('tells what each function is called, where from, how large, and whether it is traced', () => {
    assert.deepEqual(listFunctions(input, { banned: ['go'] }).functions, [
      {
        index: 0,
        name: 'print',
        nameSource: 'name-section',
        exportNames: [],
        import: { module: 'env', name: 'log' },
        isTraced: true,
      },
      {
        index: 1,
        name: 'span',
        nameSource: 'name-section',
        exportNames: [],
        import: { module: 'dylibso:observe/api', name: 'span-enter' },
        isTraced: false,
      },
      { index: 2, name: 'helper', nameSource: 'name-section', exportNames: [], bodyBytes: 6, isTraced: true },
      {
        index: 3,
        name: 'run',
        nameSource: 'name-section',
        exportNames: ['start', 'go'],
        bodyBytes: 4,
        isTraced: false,
      },
    ]);
  });

  it('falls back as the names in a trace do, and says so', () => {
    const { functions } = listFunctions(withoutNames);
    assert.deepEqual(
      functions.map(({ name, nameSource }) => [name, nameSource]),
      [
        ['env.log', 'import'],
        ['seen', 'export'],
        ['func[2]', 'none'],
        ['start', 'export'],
      ],
    );
  });

  it('agrees with instrument() on every sample, whatever is selected', async () => {
    for (const [what, bytes] of Object.entries(await samples())) {
      const names = listFunctions(bytes).functions.map(({ name }) => name);
      const lists = [{}, { allowed: [] }, { allowed: names }, { banned: names.slice(1, 3) }];
      for (const options of [...lists, { allowed: ['*e*'], patterns: true }]) {
        const { functions, notes } = listFunctions(bytes, options);
        const { report } = instrument(bytes, options);
        assert.equal(functions.length, report.totalFunctions, what);
        assert.equal(functions.filter(({ isTraced }) => isTraced).length, report.tracedFunctions, what);
        assert.deepEqual(
          notes.map(({ message }) => message),
          report.notes.filter(({ code }) => code === 'name_not_found').map(({ message }) => message),
        );
      }
    }
  });

  it('lists nothing for a module without functions', () => {
    assert.deepEqual(listFunctions(wat('(module)')), { functions: [], notes: [] });
  });

  it('refuses what instrument() refuses', () => {
    assert.throws(() => listFunctions(instrument(input).bytes), { code: 'already_instrumented' });
    assert.throws(() => listFunctions(input.subarray(0, 30)), { code: 'invalid_module' });
    assert.throws(() => listFunctions(input, { allowed: [], banned: [] }), { code: 'invalid_config' });
  });
});

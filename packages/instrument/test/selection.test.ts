import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { runTraced } from './support/run.ts';

const input = wat(`(module
  (import "env" "log" (func $print (param i32)))
  (import "dylibso:observe/api" "span-enter" (func $span))
  (func $helper (call $print (i32.const 1)))
  (func $run (export "start") (call $span) (call $helper)))`);
const env = { env: { log() {} }, 'dylibso:observe/api': { 'span-enter'() {} } };

/** Names of the functions that a call of `start` enters. */
function entered(options: object): (string | undefined)[] {
  const { exports, takeEvents } = runTraced(input, env, options);
  exports.start?.();
  return takeEvents().flatMap((event) => (event.startsWith('enter ') ? [event.slice(6)] : []));
}

describe('instrument() with allowed and banned', () => {
  it('traces everything but the manual API without either', () => {
    assert.deepEqual(entered({}), ['run', 'helper', 'print']);
    assert.equal(instrument(input).report.tracedFunctions, 3);
    assert.equal(instrument(input).report.totalFunctions, 4);
  });

  it('matches names, export names, and module.field of imports', () => {
    assert.deepEqual(entered({ allowed: ['helper'] }), ['helper']);
    assert.deepEqual(entered({ allowed: ['start'] }), ['run']);
    assert.deepEqual(entered({ allowed: ['env.log'] }), ['print']);
    assert.deepEqual(entered({ allowed: ['print', 'run'] }), ['run', 'print']);
    assert.deepEqual(entered({ banned: ['start', 'env.log'] }), ['helper']);
  });

  it('notes a name that matches nothing, and goes on', () => {
    const { notes } = instrument(input, { banned: ['nope', 'helper'] }).report;
    assert.equal(notes.length, 1);
    assert.ok(notes[0]?.code === 'name_not_found' && notes[0].name === 'nope' && notes[0].list === 'banned');
  });

  it('notes the name that may have been meant, of any kind', () => {
    for (const [name, near] of [
      ['helpr', 'helper'],
      ['stat', 'start'],
      ['env.lag', 'env.log'],
    ] as const) {
      const [note] = instrument(input, { banned: [name] }).report.notes;
      assert.ok(note?.code === 'name_not_found' && note.nearName === near, JSON.stringify(note));
      assert.match(note.message, new RegExp(`"${near}"`));
    }
    const [madeUp] = instrument(input, { banned: ['func[3]'] }).report.notes;
    assert.match(madeUp?.message ?? '', /only named functions can be listed$/);
    const [far] = instrument(input, { banned: ['something else'] }).report.notes;
    assert.ok(far?.code === 'name_not_found' && !('nearName' in far));
  });

  it('gives the input back where nothing is traced and no growth can be reported', () => {
    for (const options of [{ allowed: [] }, { allowed: ['nope'] }, { banned: ['print', 'helper', 'run'] }]) {
      const { bytes, report } = instrument(input, options);
      assert.deepEqual(bytes, input);
      assert.notEqual(bytes.buffer, input.buffer);
      assert.deepEqual(report.addedImports, []);
      assert.equal(report.tracedFunctions, 0);
    }
  });

  it('gives back a copy that the caller owns, of a Buffer too', () => {
    const { bytes } = instrument(Buffer.from(input), { allowed: [] });
    assert.ok(!(bytes instanceof Buffer));
    assert.notEqual(bytes.buffer, input.buffer);
    assert.deepEqual(bytes, input);
  });

  it('never traces the manual API, and says so to who asks for it', () => {
    const { bytes, report } = instrument(input, { allowed: ['dylibso:observe/api.span-enter'] });
    assert.deepEqual(bytes, input);
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['import_not_traced'],
    );
  });

  it('traces builtins only where allowed names them', () => {
    const builtins = wat(
      '(module (import "wasm:js-string" "length" (func (param externref) (result i32))) (func (export "f")))',
    );
    assert.equal(instrument(builtins).report.tracedFunctions, 1);
    assert.equal(instrument(builtins, { banned: ['f'] }).report.tracedFunctions, 0);
    assert.equal(instrument(builtins, { allowed: ['wasm:js-string.length'] }).report.tracedFunctions, 1);
  });

  it('refuses both lists at once', () => {
    assert.throws(() => instrument(input, { allowed: [], banned: [] }), { code: 'invalid_config' });
  });
});

describe('instrument() with patterns', () => {
  it('takes a pattern for a name by default', () => {
    const { notes, tracedFunctions } = instrument(input, { allowed: ['h*'] }).report;
    assert.equal(tracedFunctions, 0);
    assert.match(notes[0]?.message ?? '', /the option "patterns"/);
    assert.deepEqual(entered({ allowed: ['h*'], patterns: true }), ['helper']);
  });

  it('matches names, export names, and module.field of imports', () => {
    assert.deepEqual(entered({ allowed: ['?elper', 'env.*'], patterns: true }), ['helper', 'print']);
    assert.deepEqual(entered({ allowed: ['st*t'], patterns: true }), ['run']);
    assert.deepEqual(entered({ banned: ['env.*', 'r?n'], patterns: true }), ['helper']);
    assert.deepEqual(entered({ allowed: ['helper'], patterns: true }), ['helper']);
  });

  it('notes a pattern that matches nothing', () => {
    const { notes } = instrument(input, { allowed: ['x*', '*'], patterns: true }).report;
    assert.deepEqual(
      notes.map((note) => note.code === 'name_not_found' && note.name),
      ['x*'],
    );
  });

  it('traces with "*" what it traces without a list', () => {
    const module = wat(`(module (import "wasm:js-string" "length" (func (param externref) (result i32)))
      (import "dylibso:observe/api" "span-enter" (func)) (func (export "f")))`);
    assert.deepEqual(instrument(module, { allowed: ['*'], patterns: true }).bytes, instrument(module).bytes);
    const asked = instrument(module, { allowed: ['wasm:*', '*'], patterns: true }).report;
    assert.deepEqual([asked.tracedFunctions, asked.notes], [2, []]);
  });

  it('matches names with wildcards in them where these are escaped', () => {
    const operators = wat('(module (func (export "operator*")) (func (export "operator+")))', { names: false });
    assert.equal(instrument(operators, { allowed: ['operator*'] }).report.tracedFunctions, 1);
    assert.equal(instrument(operators, { allowed: ['operator*'], patterns: true }).report.tracedFunctions, 2);
    assert.equal(instrument(operators, { allowed: ['operator\\*'], patterns: true }).report.tracedFunctions, 1);
  });
});

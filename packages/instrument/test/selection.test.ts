import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instrument } from '../src/index.ts';
import { runTraced } from './support/run.ts';
import { wat } from './support/wat.ts';

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

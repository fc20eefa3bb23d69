import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moduleOf, observe } from '../test/support/observed.ts';

const exporting = moduleOf(`(module (memory (export "memory") 2 9) (memory (export "other") 1 9)
  (func (export "grow") (drop (memory.grow (i32.const 3)))))`);
const importing = moduleOf('(module (import "host" "memory" (memory 1)) (func (export "run")))');

describe('statistics().livePages', () => {
  it('is not known before there is a memory', () => {
    const { context } = observe(importing);
    assert.equal(context.statistics().livePages, undefined);
  });

  it('counts every memory of every instance as it is now', async () => {
    const { context } = observe(exporting);
    const first = await context.instantiate();
    const second = context.bind(new WebAssembly.Instance(exporting));
    assert.equal(context.statistics().livePages, 6);
    (second.exports.grow as () => void)();
    assert.equal(context.statistics().livePages, 9);
    context.bind(first);
    assert.equal(context.statistics().livePages, 9);
  });

  it('counts a memory that instances share once', () => {
    const { context } = observe(importing);
    const memory = new WebAssembly.Memory({ initial: 4 });
    const instances = [1, 2].map(() => context.instantiateSync({ host: { memory } }));
    assert.equal(context.statistics().livePages, 4);
    assert.equal(instances.length, 2);
  });
});

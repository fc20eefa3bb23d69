import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../../test/helpers/random.ts';
import { createInvalidationLog } from './invalidation-log.ts';

describe('createInvalidationLog()', () => {
  it('distinguishes tags that were invalidated after a version from others', () => {
    const log = createInvalidationLog();
    const before = log.version;
    log.add(['a', 'b']);
    const between = log.version;
    log.add(['c']);
    assert.equal(log.isValid(['a'], before), false);
    assert.equal(log.isValid(['d', 'c'], before), false);
    assert.equal(log.isValid(['d'], before), true);
    assert.equal(log.isValid(['a', 'b'], between), true);
    assert.equal(log.isValid(['c'], between), false);
    assert.equal(log.isValid(['a', 'b', 'c'], log.version), true);
  });

  it('invalidates everything for a commit without tags', () => {
    const log = createInvalidationLog();
    const before = log.version;
    log.add(undefined);
    assert.equal(log.isValid([], before), false);
    assert.equal(log.isValid(['a'], log.version), true);
  });

  it('drops the older half, and invalidates everything for versions before it', () => {
    const log = createInvalidationLog(4);
    const versions = [log.version];
    for (const tag of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) {
      log.add([tag]);
      versions.push(log.version);
    }
    // a to d are dropped; e to h are the older half, i and j the younger one.
    assert.deepEqual(
      versions.map((since) => log.isValid(['x'], since)),
      [false, false, false, false, true, true, true, true, true, true, true],
    );
    assert.deepEqual(
      versions.map((since) => log.isValid(['f'], since)),
      [false, false, false, false, false, false, true, true, true, true, true],
    );
    assert.equal(log.isValid(['j'], versions[9] ?? 0), false);
    log.add(['one', 'two', 'three', 'four', 'five']); // more than there is room for
    assert.equal(log.isValid(['x'], versions[10] ?? 0), false);
  });

  it('agrees with a complete list for all versions in the log', () => {
    const { below: random } = createRandom(7);
    const log = createInvalidationLog(8);
    const all: { readonly at: number; readonly invalidated: readonly string[] | undefined }[] = [];
    let known = 0;
    for (let round = 0; round < 3000; round++) {
      const invalidated = random(40) === 0 ? undefined : Array.from({ length: random(4) }, () => `s${random(12)}`);
      log.add(invalidated);
      all.push({ at: log.version, invalidated });
      const since = Math.max(0, log.version - random(20));
      const tags = Array.from({ length: random(3) }, () => `s${random(12)}`);
      const isValid = !all.some(
        ({ at, invalidated: those }) => at > since && (those === undefined || tags.some((one) => those.includes(one))),
      );
      if (log.isValid(tags, since)) {
        known++;
        assert.ok(isValid, `round ${round}`);
      }
    }
    assert.ok(known > 500, `${known}`);
  });
});

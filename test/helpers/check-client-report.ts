import assert from 'node:assert/strict';
import type { Entry, Report } from '../engines/client-exercise.mjs';
import type { Arena } from './client-arena.ts';

/** The codes that faults may cause. Calls that the caller aborts have `aborted`. */
const errorCodes = new Set([
  'aborted',
  'broken',
  'content_mismatch',
  'forbidden',
  'internal',
  'invalid_token',
  'network',
  'provenance_absent',
  'provenance_failed',
  'rate_limited',
  'redirected',
  'timeout',
  'too_large',
  'unavailable',
  'unexpected_response',
]);

export interface CheckOptions {
  /** Whether the exercise has this process's clock. If so, each result is compared with the bindings of its time. */
  readonly isSameClock: boolean;
  /** The maximum age of a list that is not stale. */
  readonly maxAgeMs: number;
  /** Whether the caches hold everything. If so, no call fails that has a cached result. */
  readonly hasRoom: boolean;
}

/**
 * Compares the report with the published versions: no wrong byte, no version that was never bound, none older than its reported age,
 * none older than an earlier one of the same lane, and no failure of a call with a cached result.
 */
export function checkReport(
  { stage, task: { guests }, proxy, strayVisits }: Arena,
  report: Report,
  options: CheckOptions,
): void {
  assert.deepEqual(report.unhandled, []);
  assert.deepEqual(strayVisits(), [], 'no redirect is followed');
  for (const { path, headers } of proxy.requests) {
    assert.ok(!path.includes(stage.token), 'the token is in no address');
    assert.equal(headers.authorization, `Bearer ${stage.token}`);
  }
  const bound = (entry: Entry, name: string) => stage.boundBetween(entry.key, name, 0, Number.POSITIVE_INFINITY);
  const newestSeen = new Map<string, number>();

  for (const entry of report.log) {
    const where = JSON.stringify(entry);
    if (entry.error !== undefined) assert.ok(errorCodes.has(entry.error), where);
    if (entry.isRight !== undefined) assert.ok(entry.isRight, `wrong bytes: ${where}`);
    for (const [name, index] of seen(entry)) {
      assert.ok(index >= 0, `never bound: ${where}`);
      const place = JSON.stringify([entry.lane, entry.kind, entry.key, name]);
      assert.ok(index >= (newestSeen.get(place) ?? 0), `older than what was seen before: ${where}`);
      newestSeen.set(place, index);
    }
    if (entry.list !== undefined) checkList(entry, where);
  }
  if (options.hasRoom) checkFailures(report.log);

  assert.equal(report.last.length, guests.length);
  for (const entry of report.last) {
    assert.equal(entry.isStale, false, JSON.stringify(entry));
    const { names = [] } = guests.find(({ key }) => key === entry.key) ?? {};
    const expected = Object.fromEntries(names.map((name) => [name, bound(entry, name).at(-1)?.address]));
    assert.deepEqual(entry.list, expected, 'once all is well again, what was published last is there');
  }

  /** The versions of the plugins that a call returned. -1 for a plugin of another guest. */
  function seen(entry: Entry): [name: string, index: number][] {
    if (entry.list !== undefined) {
      return Object.entries(entry.list).map(([name, address]) => [
        name,
        bound(entry, name).findIndex((version) => version.address === address),
      ]);
    }
    if (entry.number === undefined) return [];
    const { names = [] } = guests.find(({ key }) => key === entry.key) ?? {};
    const wanted = entry.name === undefined ? names : [entry.name];
    const found = wanted
      .map((name): [string, number] => [name, bound(entry, name).findIndex(({ number }) => number === entry.number)])
      .find(([, index]) => index >= 0);
    return [found ?? ['', -1]];
  }

  function checkList(entry: Entry, where: string): void {
    const { names = [] } = guests.find(({ key }) => key === entry.key) ?? {};
    assert.deepEqual(Object.keys(entry.list ?? {}).sort(), [...names].sort(), where);
    const ageMs = entry.ageMs ?? Number.POSITIVE_INFINITY;
    assert.ok(ageMs >= 0, where);
    // A list from the network is as old as the request, which several calls may share.
    // The age is that at the end of the call. The list was fresh at some moment of the call.
    const freshMs = options.maxAgeMs + entry.endMs - entry.startMs;
    if (entry.source === 'memory' && !entry.isStale) assert.ok(ageMs <= freshMs, `too old: ${where}`);
    if (!options.isSameClock) return;
    // All entries were bound at one moment within the reported age.
    let [fromMs, untilMs] = [entry.startMs - ageMs, entry.endMs];
    for (const [name, address] of Object.entries(entry.list ?? {})) {
      const version = bound(entry, name).find((one) => one.address === address);
      fromMs = Math.max(fromMs, version?.fromMs ?? Number.POSITIVE_INFINITY);
      untilMs = Math.min(untilMs, version?.untilMs ?? 0);
    }
    assert.ok(fromMs <= untilMs, `not bound at that time: ${where}`);
  }
}

/** No fault fails a call that has a cached result. */
function checkFailures(log: readonly Entry[]): void {
  const hereSinceMs = new Map<string, number>();
  const placeOf = ({ kind, key, name }: Entry) => JSON.stringify(kind === 'module' ? [kind, key, name] : [kind, key]);
  for (const entry of log) {
    if (entry.error !== undefined || entry.kind === 'content') continue;
    const place = placeOf(entry);
    hereSinceMs.set(place, Math.min(entry.endMs, hereSinceMs.get(place) ?? Number.POSITIVE_INFINITY));
  }
  const failed = log.filter(
    (entry) =>
      entry.error !== undefined &&
      entry.error !== 'aborted' &&
      entry.kind !== 'content' &&
      (hereSinceMs.get(placeOf(entry)) ?? Number.POSITIVE_INFINITY) < entry.startMs,
  );
  assert.deepEqual(failed, [], 'a copy is at hand');
}

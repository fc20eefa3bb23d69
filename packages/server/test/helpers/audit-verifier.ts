import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/*
 * Verifies the hash chain as `docs/reference/audit.md` describes it, from the rows of the database, without any code of the server.
 */

type Row = Readonly<Record<string, unknown>>;

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== 'object') return value;
  return new Map(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => [key, ordered(member)]),
  );
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (value instanceof Map) return `{${[...value].map(([key, member]) => `${write(key)}:${write(member)}`).join()}}`;
  return JSON.stringify(value);
}

const salted = (salt: unknown, values: readonly unknown[]): string => sha256(`${salt}\n${write(ordered(values))}`);

/**
 * @param links the rows of `audit_links` by `seq`
 * @param events the rows of `audit_events`
 * @param start the hash before the first link
 * @returns the hash of the last link
 * @throws AssertionError
 */
export function verifyRows(links: readonly Row[], events: readonly Row[], start = ''): string {
  const byId = new Map(events.map((event) => [event.id, event]));
  let previous = start;
  let last: number | undefined;
  for (const link of links) {
    const seq = Number(link.seq);
    if (last !== undefined) assert.equal(seq, last + 1, 'gapless');
    last = seq;
    const { eventId, sealedAtMs, subjectId, body, marks, person, target, guests } = link;
    const linked = [previous, seq, eventId, Number(sealedAtMs), subjectId, body, marks, person, target, guests];
    assert.equal(link.hash, sha256(JSON.stringify(linked)), `link ${seq}`);
    previous = String(link.hash);
    const event = byId.get(eventId);
    if (event === undefined) {
      assert.equal(link.bodySalt, null, `the event of link ${seq}`);
      continue;
    }
    const { id, action, appId, accountId, by, userId, viaId, targetId, details } = event;
    const values = [id, Number(event.atMs), action, appId, accountId, by, userId, viaId, targetId, details];
    assert.equal(body, salted(link.bodySalt, values), `the body of link ${seq}`);
    const parts = [
      [person, link.personSalt, [event.userName, event.viaName, event.address]],
      [target, link.targetSalt, [event.targetName]],
      [guests, link.guestsSalt, [event.guestKeys]],
    ] as const;
    for (const [digest, salt, part] of parts) {
      if (digest === null)
        assert.ok(
          part.every((value) => value === null),
          `a part of link ${seq}`,
        );
      else if (salt !== null) assert.equal(digest, salted(salt, part), `a part of link ${seq}`);
    }
  }
  return previous;
}

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BindingList } from '@tenon/protocol';
import { contentPath, type Reply } from './client.ts';
import { addressOf } from './fixture.ts';
import type { Node } from './nodes.ts';
import { listPath, type Reader, type Workload } from './workload.ts';

/** The last list that a reader received for each guest key. */
export type KnownLists = Map<string, { readonly etag: string; readonly body: string }>;

/** Reads lists, with `if-none-match`, and the contents they refer to until the test is over. */
export async function runReader(workload: Workload, reader: Reader): Promise<void> {
  const { random, bindings, isOver } = workload;
  const known: KnownLists = new Map();
  workload.readers.add(reader);
  while (!isOver() && workload.readers.has(reader)) {
    const list = await readList(workload, reader, random.pick([...bindings.keys()]), known);
    const addresses = Object.values(list ?? {}).map(({ contentAddress }) => contentAddress);
    if (addresses.length > 0 && random.chance(0.3)) await readContent(workload, reader, random.pick(addresses));
    await sleep(random.between(2, 25));
  }
}

/**
 * Reads the list of a guest and checks the response.
 *
 * @returns `undefined` if the server returned none
 */
export async function readList(
  workload: Workload,
  reader: Reader,
  guestKey: string,
  known: KnownLists,
  node?: Node,
): Promise<BindingList | undefined> {
  const cached = known.get(guestKey);
  const headers = cached === undefined ? {} : { 'if-none-match': cached.etag };
  const reply = await workload.client.send('GET', listPath(workload, guestKey), { token: reader.token, headers }, node);
  if (!checkAccess(workload, reader, reply)) return undefined;
  const { status, body } = reply;
  const violation = (what: string) =>
    workload.report.violation(`list of ${guestKey} on node ${reply.node.number}: ${what}`);
  if (status === 304) {
    if (cached === undefined) return void violation('304 without if-none-match');
    return checkBindings(workload, guestKey, cached.body, reply, violation);
  }
  if (status !== 200) return void violation(`${status} ${body}`);
  const etag = String(reply.headers.etag);
  const text = body.toString();
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (reply.headers['repr-digest'] !== digest) violation(`repr-digest does not match the body: ${text}`);
  if (cached !== undefined && (cached.etag === etag || cached.body === text)) violation('200 for an unchanged list');
  known.set(guestKey, { etag, body: text });
  return checkBindings(workload, guestKey, text, reply, violation);
}

/** Checks 401 and 404 against the state of the token and the membership. @returns whether the response has content to check */
function checkAccess({ report }: Workload, { isRevoked, isMember }: Reader, reply: Reply): boolean {
  const { status, fromMs, toMs, node } = reply;
  if (status === undefined || status === 503 || status === 429) return false;
  const check = (allowed: ReadonlySet<boolean>, actual: boolean, whose: string) => {
    if (allowed.has(actual)) return;
    report.violation(`${status} on node ${node.number} for ${whose}, sent at ${Math.round(fromMs)} ms`);
  };
  const revoked = isRevoked.allowedValues(fromMs, toMs);
  check(revoked, status === 401, status === 401 ? 'a valid token' : 'a revoked token');
  if (status === 401) return false;
  check(isMember.allowedValues(fromMs, toMs), status !== 404, status === 404 ? 'a member' : 'a removed member');
  return status !== 404;
}

function checkBindings(
  { bindings }: Workload,
  guestKey: string,
  body: string,
  { fromMs, toMs }: Reply,
  violation: (what: string) => void,
): BindingList {
  const list = JSON.parse(body) as BindingList;
  const registers = bindings.get(guestKey);
  for (const [name, register] of registers ?? []) {
    const actual = list[name]?.contentAddress ?? null;
    const allowed = register.allowedValues(fromMs, toMs);
    if (!allowed.has(actual))
      violation(`stale or wrong binding of ${name}: ${actual}, not ${[...allowed].join(' or ')}`);
  }
  for (const name of Object.keys(list)) if (!registers?.has(name)) violation(`unknown plugin ${name}`);
  return list;
}

/** Reads a content and checks its bytes. @returns whether the server returned the right ones */
export async function readContent(workload: Workload, reader: Reader, address: string, node?: Node): Promise<boolean> {
  const reply = await workload.client.send('GET', contentPath + address, { token: reader.token }, node);
  if (!checkAccess(workload, reader, reply)) return false;
  const { status, body, headers } = reply;
  const isRight = status === 200 && addressOf(body) === address && headers.etag === `"${address}"`;
  if (!isRight) {
    workload.report.violation(`content ${address}: ${status} with ${body.length} bytes of ${addressOf(body)}`);
  }
  return isRight;
}

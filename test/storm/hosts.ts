import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BindingList } from '@tenon/protocol';
import { type Answer, contentPath } from './balancer.ts';
import type { Node } from './nodes.ts';
import { addressOf } from './stage.ts';
import { type Host, listPath, type World } from './world.ts';

/** A list as it was answered once: entity tags stand for bodies, for all who ask. */
export type KnownLists = Map<string, { readonly etag: string; readonly body: string }>;

/** Asks for lists with what it was told before, and for what they name, until it is over. */
export async function beHost(world: World, host: Host): Promise<void> {
  const { chance, bound, isOver } = world;
  const seen: KnownLists = new Map();
  world.hosts.add(host);
  while (!isOver() && world.hosts.has(host)) {
    const list = await askList(world, host, chance.pick([...bound.keys()]), seen);
    const addresses = Object.values(list ?? {}).map(({ contentAddress }) => contentAddress);
    if (addresses.length > 0 && chance.number() < 0.3) await askContent(world, host, chance.pick(addresses));
    await sleep(chance.between(2, 25));
  }
}

/**
 * Asks for a guest's list, and holds the answer against all that may be told.
 *
 * @returns the list, when it was told
 */
export async function askList(
  world: World,
  host: Host,
  guestKey: string,
  seen: KnownLists,
  node?: Node,
): Promise<BindingList | undefined> {
  const before = seen.get(guestKey);
  const headers = before === undefined ? {} : { 'if-none-match': before.etag };
  const answer = await world.balancer.ask('GET', listPath(world, guestKey), { token: host.token, headers }, node);
  if (!isLetIn(world, host, answer)) return undefined;
  const { status, body } = answer;
  const wrong = (what: string) => world.notes.wrong(`the list of ${guestKey} on node ${answer.node.number}: ${what}`);
  if (status === 304) {
    if (before === undefined) return void wrong('304 to who had nothing');
    return demandAllowed(world, guestKey, before.body, answer, wrong);
  }
  if (status !== 200) return void wrong(`${status} ${body}`);
  const etag = String(answer.headers.etag);
  const text = body.toString();
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (answer.headers['repr-digest'] !== digest) wrong(`the digest of another body: ${text}`);
  if (before !== undefined && (before.etag === etag || before.body === text)) wrong('200 for what the asker has');
  seen.set(guestKey, { etag, body: text });
  return demandAllowed(world, guestKey, text, answer, wrong);
}

/** Whether it was answered to one who may ask; holds refusals against what may be told. */
function isLetIn({ notes }: World, { isRevoked, isMember }: Host, answer: Answer): boolean {
  const { status, fromMs, toMs, node } = answer;
  if (status === undefined || status === 503 || status === 429) return false;
  const demand = (allowed: ReadonlySet<boolean>, told: boolean, what: string) => {
    if (!allowed.has(told)) notes.wrong(`${status} on node ${node.number} for ${what}, asked at ${Math.round(fromMs)}`);
  };
  const revoked = isRevoked.allowed(fromMs, toMs);
  demand(revoked, status === 401, status === 401 ? 'a token that is not revoked' : 'a revoked token');
  if (status === 401) return false;
  demand(isMember.allowed(fromMs, toMs), status !== 404, status === 404 ? 'a member' : 'one who is no member');
  return status !== 404;
}

function demandAllowed(
  { bound }: World,
  guestKey: string,
  body: string,
  { fromMs, toMs }: Answer,
  wrong: (what: string) => void,
): BindingList {
  const list = JSON.parse(body) as BindingList;
  const registers = bound.get(guestKey);
  for (const [name, register] of registers ?? []) {
    const told = list[name]?.contentAddress ?? null;
    const allowed = register.allowed(fromMs, toMs);
    if (!allowed.has(told)) wrong(`${name} is ${told}, and not ${[...allowed].join(' or ')}`);
  }
  for (const name of Object.keys(list)) if (!registers?.has(name)) wrong(`it names ${name}`);
  return list;
}

/** Asks for what a list named. @returns whether it came */
export async function askContent(world: World, host: Host, address: string, node?: Node): Promise<boolean> {
  const answer = await world.balancer.ask('GET', contentPath + address, { token: host.token }, node);
  if (!isLetIn(world, host, answer)) return false;
  const { status, body, headers } = answer;
  const isRight = status === 200 && addressOf(body) === address && headers.etag === `"${address}"`;
  if (!isRight) world.notes.wrong(`${status} with ${body.length} bytes of ${addressOf(body)} for ${address}`);
  return isRight;
}

import type { VersionId } from '@tenon/protocol';
import type { UsageDetail } from '../db/usage-records.ts';
import { encodeSketch, mergeSketch, type Sketch } from './sketch.ts';
import { otherAgent } from './user-agent.ts';

/** How many user agents are counted per subject and day, besides {@link otherAgent}. */
export const maxAgents = 20;

/** How many loaded versions are counted per guest and day. The ones that were reported last stay. */
const maxLoaded = 100;

/** Adds two details of the same subject and day. */
export function mergeDetails(stored: UsageDetail, added: UsageDetail): UsageDetail {
  const sketch: Sketch = new Map();
  mergeSketch(sketch, stored.tokens);
  mergeSketch(sketch, added.tokens);
  const tokens = encodeSketch(sketch);
  const hours = mergeHours(stored.hours, added.hours);
  const agents = mergeAgents(stored.agents, added.agents);
  const loaded = mergeLoaded(stored.loaded, added.loaded);
  return { ...(hours && { hours }), ...(tokens && { tokens }), ...(agents && { agents }), ...(loaded && { loaded }) };
}

function mergeHours(a: UsageDetail['hours'], b: UsageDetail['hours']): UsageDetail['hours'] {
  if (a === undefined || b === undefined) return a ?? b;
  const hours = { ...a };
  for (const [hour, [lists, fetches]] of Object.entries(b)) {
    const [knownLists = 0, knownFetches = 0] = hours[hour] ?? [];
    hours[hour] = [knownLists + lists, knownFetches + fetches];
  }
  return hours;
}

function mergeAgents(a: UsageDetail['agents'] = {}, b: UsageDetail['agents'] = {}): UsageDetail['agents'] {
  const counts = new Map(Object.entries(a));
  for (const [agent, count] of Object.entries(b)) addAgent(counts, agent, count);
  return counts.size === 0 ? undefined : Object.fromEntries(counts);
}

/** Adds to the count of a user agent. All beyond {@link maxAgents} share one count. */
export function addAgent(counts: Map<string, number>, agent: string, count: number): void {
  const isOneTooMany = !counts.has(agent) && counts.size - (counts.has(otherAgent) ? 1 : 0) >= maxAgents;
  const key = isOneTooMany ? otherAgent : agent;
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function mergeLoaded(a: UsageDetail['loaded'] = {}, b: UsageDetail['loaded'] = {}): UsageDetail['loaded'] {
  const reports = new Map(Object.entries(a) as [VersionId, readonly [number, number]][]);
  for (const [id, [count, atMs]] of Object.entries(b) as [VersionId, readonly [number, number]][]) {
    const [knownCount = 0, knownMs = 0] = reports.get(id) ?? [];
    reports.set(id, [knownCount + count, Math.max(knownMs, atMs)]);
  }
  if (reports.size === 0) return undefined;
  return Object.fromEntries([...reports].sort(([, [, one]], [, [, other]]) => other - one).slice(0, maxLoaded));
}

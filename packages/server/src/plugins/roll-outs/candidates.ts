import { type GuestId, pluginId, reaches, type VersionId } from '@tenon/protocol';
import type { Db } from '../../db/db.ts';
import { setOf } from '../../db/page-queries.ts';
import type { RollOutCandidate } from '../../db/query-types.ts';
import type { PluginKey } from '../../db/records.ts';
import { versionQueries } from '../version-queries.ts';
import { rollOutBucket } from './bucket.ts';
import { type RollOutOfVersion, rollOutQueries } from './roll-out-queries.ts';

/** A binding of a plugin that may have versions in a roll-out. */
export interface BindingToReach extends PluginKey {
  readonly guestId: GuestId;
  readonly guestKey: string;
  readonly ring: string | null;
  /** The bound version. */
  readonly versionId: VersionId | null;
  /** The newest version for all guests. */
  readonly newest: VersionId | null;
  /** Whether the plugin has open roll-outs. SQLite returns a number. */
  readonly isRollingOut: unknown;
}

/** Returns the candidates of each binding. Without an open roll-out of their plugins, it makes no query. */
export async function readCandidates(
  db: Db,
  bindings: readonly BindingToReach[],
): Promise<readonly (readonly RollOutCandidate[])[]> {
  const concerned = bindings.filter(({ isRollingOut }) => Boolean(isRollingOut));
  if (concerned.length === 0) return [];
  const plugins = new Map(concerned.map((binding) => [keyText(binding), binding]));
  const open = await rollOutQueries.openRollOuts(db, [...plugins.values()]);
  const openOf = Map.groupBy(open, keyText);
  const published = await publishedUnder(db, open, concerned);
  const newest = concerned.flatMap((binding) => binding.newest ?? []);
  const numbers = await versionQueries.versionNumbers(db, [...new Set(newest)]);
  return bindings.map((binding) => {
    const after = binding.newest === null ? 0 : (numbers.get(binding.newest) ?? 0);
    return (openOf.get(keyText(binding)) ?? [])
      .filter(({ versionId, number }) => number > after && published.has(`${versionId} ${binding.guestId}`))
      .map((rollOut) => ({ id: rollOut.versionId, number: rollOut.number, isReached: isReached(rollOut, binding) }));
  });
}

/**
 * Whether a roll-out reaches a binding. A guest that has the version keeps it, for instance when its ring changes, unless the roll-out is
 * halted.
 */
function isReached(
  { versionId, plan, step, state }: RollOutOfVersion,
  { guestKey, ring, ...binding }: BindingToReach,
): boolean {
  if (state === 'halted') return false;
  return binding.versionId === versionId || reaches(plan, step, rollOutBucket(versionId, guestKey), ring);
}

const keyText = ({ extensionPointId, userId, name }: PluginKey): string => pluginId(extensionPointId, userId, name);

async function publishedUnder(
  db: Db,
  versions: readonly RollOutOfVersion[],
  guests: readonly BindingToReach[],
): Promise<ReadonlySet<string>> {
  const guestIds = new Set(guests.map(({ guestId }) => guestId));
  const rows = await db
    .selectFrom('version_guests')
    .select(['versionId', 'guestId'])
    .where('versionId', 'in', setOf(versions.map(({ versionId }) => versionId)))
    .where('guestId', 'in', setOf([...guestIds]))
    .execute();
  return new Set(rows.map(({ versionId, guestId }) => `${versionId} ${guestId}`));
}

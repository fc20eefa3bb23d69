import type { AppId } from '@tenon/protocol';
import type { MirrorSettings } from '../config/mirror-file.ts';
import { hostsUser } from './hosts-user.ts';
import { type Source, SourceError } from './source.ts';
import type { SyncOptions } from './sync-list.ts';

/** The most applications that a mirror follows. The source allows an account 64 streams. */
const maxApps = 60;

/**
 * Stores the signing keys of the source, and the applications that the token may read.
 *
 * @returns the ids of all mirrored applications
 * @throws SourceError, store errors
 */
export async function discoverApps(
  settings: MirrorSettings,
  { deps, source, signal, assertFollowing }: SyncOptions,
): Promise<ReadonlySet<AppId>> {
  const { store, clock } = deps;
  const found = await findApps(source, settings, signal);
  const keys = await source.signingKeys(signal);
  await store.write(async (tx) => {
    await assertFollowing(tx);
    const fields = keys.map(({ keyId, publicKey, validFrom, validUntil }) => ({
      id: keyId,
      publicKeyPem: publicKey,
      validFromMs: Date.parse(validFrom),
      validUntilMs: validUntil === null ? null : Date.parse(validUntil),
    }));
    const ids = new Set(fields.map(({ id }) => id));
    const revoked = (await tx.signingKeys()).filter(({ id, revokedAtMs }) => !ids.has(id) && revokedAtMs === null);
    await tx.putMirroredKeys(
      fields,
      revoked.map(({ id }) => id),
      clock(),
    );
    for (const app of found) if ((await tx.app(app.id)) === undefined) await tx.putMirroredApp(app, hostsUser(clock()));
  });
  const known = (await store.read.mirroredApps()).map(({ appId }) => appId);
  // An application that the token does not see any more may be deleted, or the token may have lost it. The mirror serves it.
  return new Set([...found.map(({ id }) => id), ...known]);
}

/** The applications that the mirror is to follow. */
async function findApps(source: Source, { extensionPoints }: MirrorSettings, signal: AbortSignal) {
  const found = [];
  for await (const page of source.apps(signal)) {
    for (const { id, name, role, createdAt, updatedAt } of page) {
      if (role === 'guest') continue;
      const times = { createdAtMs: Date.parse(createdAt), updatedAtMs: Date.parse(updatedAt) };
      found.push({ id: id as AppId, name, requiresPasskey: false, ...times });
    }
  }
  if (extensionPoints === undefined) return requireFew(found);
  const chosen = new Set<string>(extensionPoints);
  const used = [];
  for (const app of found) {
    if ((await source.extensionPoints(app.id, signal)).some(({ id }) => chosen.delete(id))) used.push(app);
  }
  return requireFew(used);
}

/** @throws SourceError for none, or too many */
function requireFew<T>(apps: readonly T[]): readonly T[] {
  if (apps.length === 0) throw new SourceError('refused', 'The token may read no application as a member of its team');
  if (apps.length <= maxApps) return apps;
  throw new SourceError(
    'invalid',
    `The token may read ${apps.length} applications, and a mirror follows at most ${maxApps}`,
  );
}

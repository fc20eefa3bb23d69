import type { AppId, ExtensionPointId } from '@tenon/protocol';
import type { AppRecord, ExtensionPointRecord } from '../db/records.ts';
import { hostsUser } from './hosts-user.ts';
import { SourceError, type SourceExtensionPoint } from './source.ts';
import type { SyncOptions } from './sync-list.ts';

export interface StructureOptions extends SyncOptions {
  /** The extension points to follow; `undefined` for all. */
  readonly chosen: ReadonlySet<string> | undefined;
}

interface Structure {
  /** The extension points that are mirrored. */
  readonly points: ReadonlySet<ExtensionPointId>;
  /** Whether one of them is new. */
  readonly isNew: boolean;
}

/**
 * Makes an application and its extension points equal to the source's.
 *
 * @throws SourceError, store errors
 */
export async function syncStructure(
  appId: AppId,
  { deps, source, chosen, assertFollowing, signal }: StructureOptions,
): Promise<Structure> {
  const { store, clock } = deps;
  const [app, listed] = await Promise.all([source.app(appId, signal), source.extensionPoints(appId, signal)]);
  if (listed.some((each) => each.appId !== appId))
    throw new SourceError('invalid', 'An extension point of the source has the id of another application');
  const present = new Map((await store.read.mirroredExtensionPoints(appId)).map((each) => [each.id, each]));
  // One that is still being deleted is mirrored again once its rows are gone.
  const found = listed.filter(
    ({ id }) => (chosen?.has(id) ?? true) && (present.get(id as ExtensionPointId)?.deletedAtMs ?? null) === null,
  );
  const points = new Set(found.map(({ id }) => id as ExtensionPointId));
  const gone = [...present.values()].filter(({ id, deletedAtMs }) => deletedAtMs === null && !points.has(id));
  const record: AppRecord = {
    id: appId,
    name: app.name,
    requiresPasskey: false,
    createdAtMs: Date.parse(app.createdAt),
    updatedAtMs: Date.parse(app.updatedAt),
  };
  await store.write(async (tx) => {
    await assertFollowing(tx);
    const nowMs = clock();
    const own = await tx.app(appId);
    if (own?.name !== record.name || own.updatedAtMs !== record.updatedAtMs)
      await tx.putMirroredApp(record, hostsUser(nowMs));
    for (const each of found) {
      const before = await tx.extensionPoint(each.id as ExtensionPointId);
      if (before?.updatedAtMs !== Date.parse(each.updatedAt)) await tx.putMirroredExtensionPoint(toRecord(each));
    }
    for (const { id } of gone) await tx.markMirroredExtensionPointDeleted(id, nowMs);
  });
  return { points, isNew: found.some(({ id }) => !present.has(id as ExtensionPointId)) };
}

function toRecord(found: SourceExtensionPoint): ExtensionPointRecord {
  const { id, appId, name, schema, requiresApproval, limits, provenance, minVersionAgeSeconds } = found;
  return {
    id: id as ExtensionPointId,
    appId: appId as AppId,
    schemaJson: JSON.stringify(schema),
    simulationsRevision: 0,
    rollOut: null,
    imports: {},
    ...{ name, requiresApproval, limits, provenance, minVersionAgeSeconds },
    createdAtMs: Date.parse(found.createdAt),
    updatedAtMs: Date.parse(found.updatedAt),
  };
}

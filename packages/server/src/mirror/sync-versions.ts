import type { ContentAddress, VersionId } from '@tenon/protocol';
import { writeWithBlob } from '../blobs/with-blob.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import { createKeyedMutex } from '../http/limits/keyed-mutex.ts';
import { isSameAttestations, toStoredAttestation } from './attestations.ts';
import { SourceError, type SourceVersion } from './source.ts';
import { readSourceImage } from './source-image.ts';
import type { SyncOptions } from './sync-list.ts';

/** How many plugins the memory of a pass has. */
const maxRememberedPlugins = 1000;

/** Reads the versions of plugins, and stores them. It remembers them until `forget()`, so call that for each change. */
export function createVersionSync({ deps, source, assertFollowing, signal }: SyncOptions) {
  const { store, settings } = deps;
  const perPlugin = createKeyedMutex();
  const perVersions = createKeyedMutex();
  const remembered = new Map<string, Promise<ReadonlyMap<number, SourceVersion>>>();

  /** Reads the versions of a plugin at the source, by number, and stores their states. A deleted plugin has none. */
  const versionsOf = (key: PluginKey): Promise<ReadonlyMap<number, SourceVersion>> => {
    const id = `${key.extensionPointId} ${key.userId} ${key.name}`;
    const known = remembered.get(id);
    if (known !== undefined) return known;
    if (remembered.size >= maxRememberedPlugins) remembered.clear();
    // One after another, so that an older response does not overwrite a newer state.
    const reading = perVersions(id, () => readVersions(key));
    remembered.set(id, reading);
    reading.catch(() => remembered.delete(id));
    return reading;
  };
  const readVersions = async (key: PluginKey): Promise<ReadonlyMap<number, SourceVersion>> => {
    const versions = new Map<number, SourceVersion>();
    try {
      for await (const page of source.versions(key, signal)) for (const each of page) versions.set(each.number, each);
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'missing') throw error;
    }
    const held = await store.read.heldVersions(key);
    const changed = held.flatMap(({ id, number, state, provenance }) => {
      const found = versions.get(number);
      const isChanged = found?.id === id && (found.state !== state || found.provenance !== provenance);
      return isChanged ? [{ found, provenanceChanged: found.provenance !== provenance }] : [];
    });
    for (const { found, provenanceChanged } of changed) {
      const attestations = provenanceChanged ? await readAttestations(key, found) : undefined;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.updateMirroredVersion(toRecord(key, found));
        if (attestations !== undefined) await tx.putMirroredAttestations(key, found.id as VersionId, attestations);
      });
    }
    return versions;
  };
  const readAttestations = async (key: PluginKey, { id, number }: SourceVersion) =>
    (await source.attestations(key, number, signal)).map((each) => toStoredAttestation(id as VersionId, each));

  /** Reads the attestations of the held versions of a plugin, and stores those that differ. */
  const refreshAttestations = async (key: PluginKey): Promise<void> => {
    const versions = await versionsOf(key);
    for (const { id, number } of await store.read.heldVersions(key)) {
      const version = versions.get(number);
      if (version?.id !== id) continue;
      const found = await readAttestations(key, version);
      if (isSameAttestations(found, await store.read.attestations(id))) continue;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.putMirroredAttestations(key, id, found);
      });
    }
  };

  /** Fetches a version and stores it, unless it is held. */
  const holdVersion = (key: PluginKey, version: SourceVersion): Promise<void> =>
    perPlugin(`${key.extensionPointId} ${key.userId} ${key.name}`, async () => {
      if ((await store.read.heldVersions(key)).some(({ id }) => id === version.id)) return;
      const address = version.contentAddress as ContentAddress;
      if (version.size > settings.maxModuleBytes) {
        const limit = `larger than this server's limit of ${settings.maxModuleBytes} bytes`;
        throw new SourceError('invalid', `The content ${address} has ${version.size} bytes, which is ${limit}`);
      }
      const [plugin, attestations, image, bytes] = await Promise.all([
        source.plugin(key, signal),
        readAttestations(key, version),
        readSourceImage(source, version, signal),
        source.content(address, version.size, signal),
      ]);
      const { userName, description, homepage, createdAt } = plugin;
      const about = { userName, description, homepage, createdAtMs: Date.parse(createdAt) };
      await writeWithBlob(deps, address, bytes, async (tx) => {
        await assertFollowing(tx);
        await tx.putMirroredVersion({ version: toRecord(key, version), plugin: about });
        await tx.putMirroredAttestations(key, version.id as VersionId, attestations);
        if (image !== undefined) await tx.insertMirroredImage(version.id as VersionId, image);
      });
    });

  return {
    versionsOf,
    refreshAttestations,
    holdVersion,
    /** Forgets the versions that were read. */
    forget: (): void => remembered.clear(),
  };
}

function toRecord({ extensionPointId, userId, name }: PluginKey, version: SourceVersion): VersionRecord {
  const { id, number, contentAddress, size, semver, note, state, stateReason, verdict, provenance } = version;
  return {
    ...{ extensionPointId, userId, name, id: id as VersionRecord['id'], number, size, semver, note },
    ...{ state, stateReason, verdict, provenance, stateRole: version.decidedBy },
    contentAddress: contentAddress as ContentAddress,
    createdAtMs: Date.parse(version.createdAt),
    stateAtMs: Date.parse(version.stateChangedAt),
    releaseAtMs: version.releaseAt === null ? null : Date.parse(version.releaseAt),
    manifestDigest: null,
  };
}

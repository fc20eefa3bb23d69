import type { OciDigest } from '@tenon/protocol';
import type { CacheSpec } from '../cache/cache.ts';
import { pluginDocumentsTag } from '../cache/cache-tag.ts';
import { readAllPages } from '../db/paging.ts';
import type { ExtensionPointRecord, PluginKey, PluginRecord, VersionRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { imagesOf } from './oci-image.ts';
import { referrersOf } from './oci-referrers.ts';

/*
 * The documents of a plugin have digests that are computed. To find one, the server keeps the digests of all of a plugin's documents in the
 * cache, so that a lookup costs the same for any number of versions, also if the digest is unknown.
 */

/** How many versions one query reads. */
const batchSize = 100;

/** Estimated memory for a digest, in bytes. */
const digestBytes = 160;

/** The numbers of the newest versions that have the documents. */
interface Documents {
  readonly plugin: PluginKey;
  readonly numbers: ReadonlyMap<OciDigest, number>;
}

const pluginDocuments: CacheSpec<Documents> = {
  name: 'OCI documents',
  tags: ({ plugin }) => [pluginDocumentsTag(plugin)],
  sizeOf: ({ numbers }) => numbers.size * digestBytes,
};

/**
 * Finds a plugin's newest version, in any state, that has a document with a digest: its manifest, its configuration, an attestation, or a test
 * result, or the manifest of one of these.
 */
export async function findVersionOfDocument(
  deps: Deps,
  { simulationsRevision }: ExtensionPointRecord,
  plugin: PluginRecord,
  digest: OciDigest,
): Promise<VersionRecord | undefined> {
  const documents = deps.cache.of(pluginDocuments);
  // With these in the key, a version that another process has just published is known, and test results are those of the simulations.
  const { numbers } = await documents.getOrLoad(`${plugin.newest.id} ${simulationsRevision}`, () =>
    readDocuments(deps, plugin),
  );
  const number = numbers.get(digest);
  return number === undefined ? undefined : deps.store.read.version(plugin, number);
}

async function readDocuments(deps: Deps, plugin: PluginRecord): Promise<Documents> {
  const { read } = deps.store;
  const numbers = new Map<OciDigest, number>();
  const cursorOf = ({ number }: VersionRecord): string => String(number);
  for await (const versions of readAllPages(batchSize, cursorOf, (range) => read.versions(plugin, range))) {
    const add = (digest: OciDigest, { number }: VersionRecord) => {
      if (!numbers.has(digest)) numbers.set(digest, number);
    };
    for (const [index, { manifest, config }] of (await imagesOf(read, versions)).entries()) {
      for (const { digest } of [manifest, config]) add(digest, versions[index] as VersionRecord);
    }
    for (const { version, manifest, document } of await referrersOf(deps, versions)) {
      for (const { digest } of [manifest, document]) add(digest, version);
    }
  }
  return { plugin, numbers };
}

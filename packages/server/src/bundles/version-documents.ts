import { hash } from 'node:crypto';
import { type AttestationId, pluginId } from '@tenon/protocol';
import { parseBundle } from '../attestations/dsse.ts';
import type { CacheSpec } from '../cache/cache.ts';
import type { PluginKey } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { newestTestResults } from '../simulations/test-result.ts';

/** The documents about a version that a bundle of plugins carries. */
export interface VersionDocuments {
  /** Their SHA-256 in hexadecimal, as responses have them: without the spaces of an attached bundle. */
  readonly digests: readonly string[];
  /** When the newest attestation was attached; 0 without one. */
  readonly changedAtMs: number;
}

export type DocumentReader = (key: PluginKey, number: number) => Promise<VersionDocuments>;

/** Cached by the attestation's id, because a bundle never changes. */
const documentDigests: CacheSpec<string> = { name: 'document digests', tags: () => [] };

/** Returns a function that reads the documents of a version, each version once. */
export function createDocumentReader(
  { cache, baseUrl }: Pick<Deps, 'cache' | 'baseUrl'>,
  read: Queries,
): DocumentReader {
  const known = new Map<string, VersionDocuments>();
  const digestOf = (id: AttestationId) =>
    cache.of(documentDigests).getOrLoad(id, async () => sha256(parseBundle((await read.attestationBundle(id)) ?? '')));
  return async (key, number) => {
    const id = `${pluginId(key.extensionPointId, key.userId, key.name)}@${number}`;
    const found = known.get(id) ?? (await readDocuments(read, key, number, digestOf, baseUrl()));
    known.set(id, found);
    return found;
  };
}

async function readDocuments(
  read: Queries,
  key: PluginKey,
  number: number,
  digestOf: (id: AttestationId) => Promise<string>,
  baseUrl: string,
): Promise<VersionDocuments> {
  const version = await read.version(key, number);
  if (version === undefined) return { digests: [], changedAtMs: 0 };
  const { manifestDigest } = version;
  // That of a pushed image alone: others follow from the module.
  const digests = manifestDigest === null ? [] : [manifestDigest.slice('sha256:'.length)];
  let changedAtMs = 0;
  for (const { id, kind, createdAtMs } of await read.attestations(version.id)) {
    if (kind === 'origin') continue;
    digests.push(await digestOf(id));
    changedAtMs = Math.max(changedAtMs, createdAtMs);
  }
  const isTested = version.verdict !== null && version.verdict !== 'none_configured';
  const results = await newestTestResults(read, isTested ? [version] : [], baseUrl);
  const result = results.get(version.id);
  if (result !== undefined) digests.push(sha256(result));
  return { digests, changedAtMs };
}

/** Of a document as a response has it. */
function sha256(document: object = {}): string {
  return hash('sha256', JSON.stringify(document), 'hex');
}

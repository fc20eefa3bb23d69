import { hash } from 'node:crypto';
import { type OciDigest, type OciVersionNames, ociImageOf, ociRepositoryOf, ociTagsOf } from '@tenon/protocol';
import type { AppAccess } from '../auth/access.ts';
import type { VersionRecord } from '../db/records.ts';

export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Returns the names by which OCI clients pull a version. The registry is the host of the server's public URL. */
export function ociNamesOf(version: VersionRecord, { app }: AppAccess, baseUrl: string): OciVersionNames {
  const { extensionPointId, userId, name, state } = version;
  return {
    repository: `${new URL(baseUrl).host}/${ociRepositoryOf(app.id, extensionPointId, userId, name)}`,
    tag: state === 'published' ? (ociTagsOf(version).at(-1) ?? null) : null,
    digest: manifestDigestOf(version),
  };
}

/** Returns the digest of a version's manifest: the pushed one, or else the computed one. */
export function manifestDigestOf(version: VersionRecord): OciDigest {
  return version.manifestDigest ?? ociImageOf(version, sha256Hex).manifest.digest;
}

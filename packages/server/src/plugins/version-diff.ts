import type { ModuleComparison } from '@tenon/instrument';
import type { Actor, ExtensionPointAccess } from '../auth/access.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import type { Services } from '../services.ts';
import type { JobOptions } from './module-checker.ts';
import { findPlugin, findVersion, type PluginTarget } from './plugins.ts';

export interface VersionsToDiff {
  /** `undefined` if no other version is bound. */
  readonly before: VersionRecord | undefined;
  readonly after: VersionRecord;
}

/**
 * Finds a version, and the one to compare it with: by default the newest other version that is bound.
 *
 * @throws DomainError `not_found`
 */
export async function findVersionsToDiff(
  { store: { read } }: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  { against }: { readonly against?: number },
): Promise<VersionsToDiff> {
  const plugin = await findPlugin(read, actor, access, target);
  const after = await findVersion(read, plugin, number);
  const before =
    against === undefined
      ? await read.newestBoundVersion(plugin, after.id)
      : await findVersion(read, plugin, String(against));
  return { before, after };
}

/**
 * Compares the modules of two versions in a worker process.
 *
 * @param reserve takes memory for that many bytes, or throws
 * @throws DomainError `not_found`, `module_too_complex`
 * @throws DamagedContentError
 * @throws HttpError `unavailable`
 */
export async function diffVersions(
  { deps, workers }: Services,
  { before, after }: VersionsToDiff,
  reserve: (bytes: number) => void,
  jobOptions: JobOptions,
): Promise<ModuleComparison & { readonly against: number | null }> {
  reserve((before?.size ?? 0) + after.size);
  const read = async ({ contentAddress }: VersionRecord): Promise<Uint8Array> => {
    const content = await deps.contents.find(contentAddress);
    if (content === undefined) throw notFound('content'); // deleted after the authorization
    return content.read();
  };
  const diff = await workers.diff(before && (await read(before)), await read(after), jobOptions);
  return { against: before?.number ?? null, ...diff };
}

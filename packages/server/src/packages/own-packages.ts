import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageRecord } from '../db/package-records.ts';

/** A package that this server was built with: the npm archive of a library or of the command line. */
export interface OwnPackage extends Omit<PackageRecord, 'createdAtMs'> {
  readonly bytes: Buffer;
}

/** The output folder of `scripts/build-packages.mjs`: a folder for each build, and a file `current` with the name of one. */
export const defaultPackageBuilds = join(import.meta.dirname, '..', '..', 'dist');

/**
 * Reads the current build of the packages into memory: less than a megabyte.
 *
 * @returns no packages if there is no build
 */
export function readOwnPackages(builds: string): readonly OwnPackage[] {
  const current = join(builds, 'current');
  if (!existsSync(current)) return [];
  const folder = join(builds, readFileSync(current, 'utf8').trim());
  const list: readonly Pick<OwnPackage, 'name' | 'version' | 'file'>[] = JSON.parse(
    readFileSync(join(folder, 'packages.json'), 'utf8'),
  );
  return list.map(({ name, version, file }) => {
    const bytes = readFileSync(join(folder, file));
    return { name, version, file, size: bytes.length, integrity: integrityOf(bytes), bytes };
  });
}

/** The name without a version, under which the newest archive is offered: `tenon-client.tgz`. */
export function stableFile({ name }: Pick<PackageRecord, 'name'>): string {
  return `${name.slice(1).replace('/', '-')}.tgz`;
}

/** A digest as lock files hold it: https://w3c.github.io/webappsec-subresource-integrity/#integrity-metadata */
function integrityOf(bytes: Buffer): string {
  return `sha512-${hash('sha512', bytes, 'base64')}`;
}

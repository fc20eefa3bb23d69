import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import type { PackagePart, PackageRecord } from '../db/package-records.ts';
import { columns } from '../db/records.ts';

/*
 * The archives are in the database, in parts of 48 KiB as base64, so that every store, copy, and backup contains them. A host's lock file names
 * the URL and the digest of an archive, which must return the same bytes after an upgrade, on every node. So archives are never deleted.
 */

/** The largest number of archives that are listed: hundreds of versions. */
const maxListed = 2000;

export const packageQueries = {
  /** The archives that were ever offered, the newest first. */
  packages: (db: Db): Promise<PackageRecord[]> =>
    db
      .selectFrom('packages')
      .select(columns.packages)
      .orderBy('createdAtMs', 'desc')
      .orderBy('file')
      .limit(maxListed)
      .execute(),

  packageByFile: (db: Db, file: string): Promise<PackageRecord | undefined> =>
    db.selectFrom('packages').select(columns.packages).where('file', '=', file).executeTakeFirst(),

  packagePart: (db: Db, file: string, number: number): Promise<Pick<PackagePart, 'base64'> | undefined> =>
    db
      .selectFrom('package_parts')
      .select('base64')
      .where('file', '=', file)
      .where('number', '=', number)
      .executeTakeFirst(),
};

export const packageMutations = {
  /** Stores an archive. An archive of this name never changes: if there is one, it stays. */
  insertPackage: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, record: PackageRecord, parts: readonly PackagePart[]): Promise<void> => {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('packages')
        .values(record)
        .onConflict((conflict) => conflict.column('file').doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) return;
      for (const part of parts) await db.insertInto('package_parts').values(part).execute();
    },
  ),
};

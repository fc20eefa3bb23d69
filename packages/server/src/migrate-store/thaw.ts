import type { StoreSettings } from '../open-stores.ts';
import { freezesOf, setFreeze } from '../store/kysely/freeze.ts';
import { openSource } from './end.ts';
import { MigrateStoreError } from './errors.ts';

export interface ThawStoreOptions {
  readonly store: StoreSettings;
  /** Whether also a store whose data was moved takes changes again, though others may be made elsewhere. Default: `false`. */
  readonly force?: boolean;
}

/**
 * Has a store take changes again that a move has left frozen.
 *
 * @returns whether it was frozen
 * @throws MigrateStoreError `moved` where it would go on beside the store that its data was moved to, `arriving` where its data is not
 *   whole, `no_source`, `older_source`
 */
export async function thawStore({ store, force = false }: ThawStoreOptions): Promise<boolean> {
  const end = await openSource(store);
  try {
    return await end.metadata.refreeze(async (db) => {
      const kinds = (await freezesOf(db)).map(({ kind }) => kind);
      if (kinds.includes('arriving')) {
        throw new MigrateStoreError('arriving', 'The data that is being moved here is not whole yet.');
      }
      if (kinds.includes('moved') && !force) {
        throw new MigrateStoreError('moved', 'The data was moved to another store, which may have changed since.');
      }
      await setFreeze(db, undefined);
      return kinds.length > 0;
    });
  } finally {
    await end.close();
  }
}

import type { MirrorSettings } from '../config/mirror-file.ts';
import type { Deps } from '../deps.ts';

/** The store holds data of its own, or mirrors another source. */
export class ForeignStoreError extends Error {
  override readonly name = 'ForeignStoreError';
}

/**
 * Checks that the store of a mirror mirrors this source and nothing else, and that the store of another server is no mirror.
 *
 * @throws ForeignStoreError
 */
export async function assertMirrorStore(
  { store }: Pick<Deps, 'store'>,
  settings: MirrorSettings | undefined,
): Promise<void> {
  const known = await store.read.mirror();
  if (settings === undefined) {
    if (known === undefined) return;
    throw new ForeignStoreError(`The data is a mirror of ${known.source}. Set TENON_MIRROR_FILE, or use other data.`);
  }
  if (known === undefined ? await store.read.hasOwnApp() : known.source !== settings.source) {
    const what = known === undefined ? 'has applications of its own' : `is a mirror of ${known.source}`;
    throw new ForeignStoreError(
      `The data ${what}, so it cannot become a mirror of ${settings.source}. Use an empty data folder.`,
    );
  }
}

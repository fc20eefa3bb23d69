import { after, before } from 'node:test';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import type { Store } from '../../src/db/store.ts';

/** What a contract suite tests: a way to open stores, as often as wanted, on the same data. */
export interface Backend {
  /** The URL of the module that exports this as `backend`, for child processes to import. */
  readonly module: string;
  /** An empty place for data. */
  makeLocation(): Promise<{ readonly location: string; remove(): Promise<void> }>;
  /** Puts an empty database with the newest schema into a new location, so that the first `openStore()` is quick. */
  placeDatabase?(location: string): Promise<void>;
  openStore(location: string): Promise<Store>;
  /**
   * @param onStep called with the name of each step of a `put` or a deletion, before it is made
   */
  openBlobs(location: string, onStep?: (step: string) => void): Promise<BlobStore>;
  /** The steps of a `put`, in their order. One that is made several times has several names. */
  readonly blobSteps: readonly string[];
  /** The step of a deletion. */
  readonly deletionStep: string;
}

/** Opens something before the tests of the `describe` around the call, and closes it after them. */
export function opened<T extends { close(): Promise<void> }>(
  backend: Pick<Backend, 'makeLocation' | 'placeDatabase'>,
  open: (location: string) => Promise<T>,
): { readonly it: T; readonly location: string } {
  let state: { it: T; location: string; remove(): Promise<void> } | undefined;
  before(async () => {
    const { location, remove } = await backend.makeLocation();
    await backend.placeDatabase?.(location);
    state = { it: await open(location), location, remove };
  });
  after(async () => {
    await state?.it.close();
    await state?.remove();
  });
  const demand = () => {
    if (state === undefined) throw new Error('Opened only while tests run');
    return state;
  };
  return {
    get it() {
      return demand().it;
    },
    get location() {
      return demand().location;
    },
  };
}

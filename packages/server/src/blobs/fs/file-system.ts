import * as promises from 'node:fs/promises';
import { syncFolder } from '../../durable-folder.ts';

/** The calls by which blobs reach the disk: those of `node:fs/promises`, unless a test puts failures in their way. */
export interface FileSystem {
  readonly open: typeof promises.open;
  readonly rename: typeof promises.rename;
  readonly unlink: typeof promises.unlink;
  readonly syncFolder: typeof syncFolder;
}

export const fileSystem: FileSystem = {
  open: promises.open,
  rename: promises.rename,
  unlink: promises.unlink,
  syncFolder,
};

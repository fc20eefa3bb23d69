import * as promises from 'node:fs/promises';
import { syncFolder } from '../../durable-folder.ts';

/** The file system calls that write blobs. Tests replace them to inject failures. */
export interface FileSystem {
  readonly open: typeof promises.open;
  readonly link: typeof promises.link;
  readonly rename: typeof promises.rename;
  readonly unlink: typeof promises.unlink;
  readonly syncFolder: typeof syncFolder;
}

export const fileSystem: FileSystem = {
  open: promises.open,
  link: promises.link,
  rename: promises.rename,
  unlink: promises.unlink,
  syncFolder,
};

import type { FileHandle } from 'node:fs/promises';
import { type FileSystem, fileSystem } from '../../src/blobs/folder/file-system.ts';

/** The calls that store one blob, in their order. */
export const putCalls = ['open', 'write', 'write again', 'sync', 'close', 'link', 'rename', 'syncFolder'] as const;

export type FileCall = (typeof putCalls)[number] | 'unlink';

/**
 * The real file system, which tells of every call before it is made; what `onCall` throws is what the call fails with. The
 * first write to a file writes half of what it is asked to, as a file system may.
 */
export function watchedFiles(onCall: (call: FileCall) => void): FileSystem {
  return {
    async open(...args) {
      onCall('open');
      return watchedHandle(await fileSystem.open(...args), onCall);
    },
    async link(from, to) {
      onCall('link');
      await fileSystem.link(from, to);
    },
    async rename(from, to) {
      onCall('rename');
      await fileSystem.rename(from, to);
    },
    async unlink(path) {
      onCall('unlink');
      await fileSystem.unlink(path);
    },
    async syncFolder(folder) {
      onCall('syncFolder');
      await fileSystem.syncFolder(folder);
    },
  };
}

function watchedHandle(handle: FileHandle, onCall: (call: FileCall) => void): FileHandle {
  let written = false;
  const watched = {
    async write(bytes: Uint8Array, offset: number, length: number, position: number) {
      onCall(written ? 'write again' : 'write');
      const some = written ? length : Math.ceil(length / 2);
      written = true;
      return handle.write(bytes, offset, some, position);
    },
    async sync() {
      onCall('sync');
      await handle.sync();
    },
    async close() {
      try {
        onCall('close');
      } finally {
        await handle.close();
      }
    },
  };
  return watched as unknown as FileHandle;
}

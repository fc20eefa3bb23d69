import type { Logger } from 'pino';
import { type PackagePart, packagePartBytes } from '../db/package-records.ts';
import type { Deps } from '../deps.ts';
import type { OwnPackage } from './own-packages.ts';

/**
 * Stores the archives that this server was built with, so that later versions of it still offer them. Never rejects: without a
 * store that it can write to, the server offers them from memory.
 */
export async function offerPackages(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  own: readonly OwnPackage[],
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    for (const { bytes, ...described } of own) {
      const { file, integrity } = described;
      const found = await store.read.packageByFile(file);
      if (found === undefined) {
        const record = { ...described, createdAtMs: clock() };
        await store.write((tx) => tx.insertPackage(record, partsOf(file, bytes)));
      } else if (found.integrity !== integrity) {
        log.warn({ file }, 'the package was offered with other bytes before: its versioned URL keeps those');
      }
    }
  } catch (error) {
    log.warn({ err: error }, 'the packages could not be stored');
  }
}

function partsOf(file: string, bytes: Buffer): PackagePart[] {
  return Array.from({ length: Math.ceil(bytes.length / packagePartBytes) }, (_, number) => {
    const start = number * packagePartBytes;
    return { file, number, base64: bytes.toString('base64', start, start + packagePartBytes) };
  });
}

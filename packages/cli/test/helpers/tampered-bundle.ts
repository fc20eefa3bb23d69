import { writeFile } from 'node:fs/promises';
import type { Catalog } from '../../src/bundle/catalog.ts';
import { blobFile, createLayout, indexFile, layoutFile, layoutText } from '../../src/bundle/layout.ts';
import { withBundle } from '../../src/bundle/open-bundle.ts';
import { tarEnd, tarHeader, tarPadding } from '../../src/bundle/tar.ts';
import { createIo } from './streams.ts';

export type { Catalog };

/** Calls the work with the catalog of a bundle, and with a function that reads its blobs. */
export function openBundleFile<T>(
  file: string,
  work: (bundle: Parameters<Parameters<typeof withBundle>[4]>[0]) => Promise<T>,
): Promise<T> {
  return withBundle(createIo().io, false, file, new AbortController().signal, work);
}

/**
 * Writes a bundle whose digests are all right, with another catalog.
 *
 * @param sources bundles that have the blobs
 */
export async function writeTampered(file: string, catalog: Catalog, sources: readonly string[]): Promise<void> {
  const read = async (digest: string): Promise<Buffer> => {
    for (const source of sources) {
      const bytes = await openBundleFile(source, (bundle) => bundle.read(digest)).catch(() => undefined);
      if (bytes !== undefined) return bytes;
    }
    throw new Error(`No bundle has ${digest}`);
  };
  const layout = createLayout(catalog, Buffer.from(JSON.stringify(catalog)));
  const parts: Buffer[] = [];
  const add = (name: string, bytes: Buffer) =>
    parts.push(tarHeader(name, bytes.length), bytes, tarPadding(bytes.length));
  add(layoutFile, Buffer.from(layoutText));
  add(indexFile, layout.index);
  for (const { digest, source } of layout.blobs) {
    add(blobFile(digest), source.kind === 'computed' ? source.bytes : await read(digest));
  }
  await writeFile(file, Buffer.concat([...parts, tarEnd]));
}

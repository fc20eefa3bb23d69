import { usageError } from './errors.ts';
import { standardStream, writeFileWhole } from './files.ts';
import { writeBytes } from './output.ts';
import type { Session } from './session.ts';

/** Downloads CSV to a file; "-" is stdout. */
export async function saveCsv({ api, io, out }: Session, path: string, file: string): Promise<void> {
  if (out.isJson) throw usageError('Use either --json or --csv.');
  const { chunks } = await api.download(path);
  if (file === standardStream) {
    for await (const chunk of chunks) await writeBytes(io.stdout, chunk);
    return;
  }
  await writeFileWhole(file, async (handle) => {
    for await (const chunk of chunks) await handle.writeFile(chunk);
  });
  out.note(`Wrote ${file}.`);
}

import { createHash } from 'node:crypto';
import type { Download } from './api.ts';
import { CliError } from './errors.ts';
import { createProgress } from './progress.ts';
import type { Session } from './session.ts';

/**
 * Reads a plugin's bytes and checks them against the content address.
 *
 * @returns the number of bytes
 * @throws CliError `digest_mismatch`
 */
export async function readVerified(
  { io, out }: Pick<Session, 'io' | 'out'>,
  { totalBytes, chunks }: Download,
  address: string,
  write: (chunk: Uint8Array) => Promise<void> | void,
): Promise<number> {
  const progress = createProgress(io, !out.isJson, 'Downloading', totalBytes);
  const digest = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of chunks) {
      digest.update(chunk);
      size += chunk.length;
      await write(chunk);
      progress.advance(chunk.length);
    }
  } finally {
    progress.end();
  }
  const found = digest.digest('base64url');
  if (found === address) return size;
  throw new CliError('digest_mismatch', `The downloaded bytes don't match ${address}: their address is ${found}.`, {
    hint: 'They were damaged in transit, or the server or a proxy is faulty. Nothing was written.',
  });
}

import type { IncomingMessage } from 'node:http';

/** How much of a refused body is read to its end, so that the connection can be used again. */
const maxDrainBytes = 256 * 1024 * 1024;
const maxDrainMs = 30_000;

/**
 * Sees to it that a client whose body was not read gets its answer. Closing right away would reset the connection under a
 * client that still sends, and many then drop the answer unread; so the rest is read and thrown away, within bounds.
 */
export function drain(message: IncomingMessage): void {
  if (message.complete || message.readableEnded || message.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => message.destroy(), maxDrainMs);
  timer.unref();
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDrainBytes) message.destroy();
  });
  message.on('error', () => {});
  const stop = (): void => clearTimeout(timer);
  message.once('end', stop).once('close', stop);
  message.resume();
}

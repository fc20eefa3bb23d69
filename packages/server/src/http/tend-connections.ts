import type { Server } from 'node:http';
import { type AnsweringSocket, isInUse } from './connections.ts';

/** How often connections are looked at, in milliseconds, at the most. */
const maxLookMs = 5_000;

/**
 * Ends connections that would stay for good. One is that whose client takes nothing of an answer for so long. A time-out of all
 * connections would also end those on which an answer is still worked out, so only those get one on which something waits; Node begins
 * it anew with whatever is taken, and ends it with the answer. Another is that on which nobody has ever asked, once the server closes.
 */
export function tendConnections(server: Server, open: Iterable<AnsweringSocket>, idleTimeoutMs: number): void {
  const look = (): void => {
    for (const socket of open) {
      // Node.js before 26 takes it for one in use, and would wait for it.
      if (!server.listening && socket.bytesRead === 0) socket.destroy();
      const isWaiting = isInUse(socket) && socket.writableLength > 0;
      if (isWaiting && !socket.timeout) socket.setTimeout(idleTimeoutMs);
    }
  };
  const timer = setInterval(look, Math.min(maxLookMs, idleTimeoutMs)).unref();
  server.once('close', () => clearInterval(timer));
}

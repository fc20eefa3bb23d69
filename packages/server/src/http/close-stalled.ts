import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How often connections are checked, in milliseconds, at most. */
const maxCheckMs = 5_000;

/**
 * Closes connections that would stay open for ever. One kind is those whose client takes nothing of a response for the idle time-out. A
 * time-out of all connections would also close those whose response is still being worked out, so it is set only where bytes
 * wait to be sent; Node.js restarts it with whatever is taken, and replaces it when the response has ended. The other kind is those
 * without a request, once the server closes.
 */
export function closeStalled(server: Server, open: Iterable<Socket>, idleTimeoutMs: number): void {
  const check = (): void => {
    for (const socket of open) {
      // Node.js before 26 takes it for one in use, and would wait for it.
      if (!server.listening && socket.bytesRead === 0) socket.destroy();
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(idleTimeoutMs);
    }
  };
  const timer = setInterval(check, Math.min(maxCheckMs, idleTimeoutMs)).unref();
  server.once('close', () => clearInterval(timer));
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may wait on a connection for the one that is being answered. */
const maxWaiting = 100;

/**
 * Serves the requests of each connection one after another, as they are answered. Node hands on all that came in one piece at once, a
 * thousand small ones, and keeps what is answered to each until its turn has come: a few connections would fill the memory. Who sends
 * many more ahead than any client does loses the connection.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (message: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    if (response.socket !== null) {
      serve(message, response);
      return;
    }
    const { socket } = message;
    const count = waiting.get(socket) ?? 0;
    if (count === maxWaiting) {
      socket.destroy();
      return;
    }
    waiting.set(socket, count + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
      // Once Node has done what it does when a response gets its socket.
      setImmediate(() => {
        if (!response.destroyed) serve(message, response);
      });
    });
  };
}

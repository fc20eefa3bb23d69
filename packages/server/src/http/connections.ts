import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long after a connection found no room the idle ones are closed: once for all that found none by then. In milliseconds. */
const closeIdleAfterMs = 50;

/** How many requests may wait on a connection for the one that is being answered. */
const maxWaiting = 100;

/**
 * Keeps the number of connections bounded. A connection too many is closed without a response, and soon after, so are all on
 * which no request is being answered, as clients expect of connections that they keep open (RFC 9112 §9.5): the next one finds room.
 */
export function limitConnections(server: Server, max: number) {
  const open = new Map<Socket, ServerResponse | undefined>();
  let willCloseIdle = false;
  // A worker of a cluster would else hand on connections, to others that may be as full.
  Object.assign(server, { maxConnections: max, dropMaxConnection: true });
  server.on('connection', (socket) => {
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.on('drop', () => {
    if (willCloseIdle) return;
    willCloseIdle = true;
    setTimeout(() => {
      willCloseIdle = false;
      server.closeIdleConnections();
    }, closeIdleAfterMs).unref();
  });
  return {
    [Symbol.iterator]: () => open.keys(),
    /** Serves the requests of each connection one after another: see {@link sequentialRequests}. */
    sequential: (serve: RequestListener): RequestListener =>
      sequentialRequests((message, response) => {
        if (response.socket !== null && open.has(response.socket)) open.set(response.socket, response);
        serve(message, response);
      }),
    pendingResponse(socket: Socket): ServerResponse | undefined {
      const response = open.get(socket);
      return response === undefined || response.writableFinished || response.destroyed ? undefined : response;
    },
  };
}

/**
 * Serves the requests of each connection one after another, as they are answered. Node hands on all that came in one piece at once, a
 * thousand small ones, and keeps what is answered to each until its turn has come: a few connections would fill the memory. Who sends
 * many more ahead than any client does loses the connection.
 */
export function sequentialRequests(serve: RequestListener): RequestListener {
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

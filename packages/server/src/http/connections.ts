import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long after a connection found no room the idle ones are closed: once for all that found none by then. In milliseconds. */
const closeIdleAfterMs = 50;

/** The open connections of a server. */
export interface Connections extends Iterable<Socket> {
  /** Notes that a response has begun on its connection. */
  begin(response: ServerResponse): void;
  /** The response that is owed or under way on a connection. */
  responseOn(socket: Socket): ServerResponse | undefined;
}

/**
 * Keeps the number of connections bounded. A connection too many is closed without a response, and soon after, so are all on
 * which no request is being answered, as clients expect of connections that they keep open (RFC 9112 §9.5): the next one finds room.
 */
export function limitConnections(server: Server, max: number): Connections {
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
    begin(response) {
      if (response.socket !== null && open.has(response.socket)) open.set(response.socket, response);
    },
    responseOn(socket) {
      const response = open.get(socket);
      return response === undefined || response.writableFinished || response.destroyed ? undefined : response;
    },
  };
}

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For how long, once unused connections were closed to make room, no further ones are, in milliseconds. */
const closeIdleAgainMs = 100;

/** The open connections of a server. */
export interface Connections extends Iterable<Socket> {
  /** Notes that a response has begun on its connection. */
  begin(response: ServerResponse): void;
  /** The response that is owed or under way on a connection. */
  responseOn(socket: Socket): ServerResponse | undefined;
}

/**
 * Keeps the number of connections bounded. A connection too many is closed without a response, and so are then all on which no
 * request is being answered, as clients expect of connections that they keep open (RFC 9112 §9.5): the next one finds room.
 */
export function limitConnections(server: Server, max: number): Connections {
  const open = new Map<Socket, ServerResponse | undefined>();
  let closedIdleAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = max;
  server.on('connection', (socket) => {
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.on('drop', () => {
    const now = performance.now();
    if (now < closedIdleAt + closeIdleAgainMs) return;
    closedIdleAt = now;
    server.closeIdleConnections();
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

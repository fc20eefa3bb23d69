import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The delay between rejecting a connection and closing idle ones. It batches several rejections. */
const closeIdleAfterMs = 50;

/** The maximum number of pipelined requests that wait on a connection. */
const maxPipelined = 100;

/**
 * Limits the number of connections. The server closes a further connection without a response, and soon after all idle ones, which
 * clients must expect (RFC 9112 §9.5). So a client that tries again gets a connection.
 */
export function limitConnections(server: Server, max: number) {
  const open = new Map<Socket, ServerResponse | undefined>();
  let isScheduled = false;
  // Without `dropMaxConnection`, a cluster worker passes the connection on to other workers, which may be full too.
  Object.assign(server, { maxConnections: max, dropMaxConnection: true });
  server.on('connection', (socket) => {
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.on('drop', () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      server.closeIdleConnections();
    }, closeIdleAfterMs).unref();
  });
  return {
    [Symbol.iterator]: () => open.keys(),
    /** See {@link sequentialRequests}. */
    sequential: (serve: RequestListener): RequestListener =>
      sequentialRequests((message, response) => {
        if (response.socket !== null && open.has(response.socket)) open.set(response.socket, response);
        serve(message, response);
      }),
    /** Returns the unfinished response on a connection. */
    pendingResponse(socket: Socket): ServerResponse | undefined {
      const response = open.get(socket);
      return response === undefined || response.writableFinished || response.destroyed ? undefined : response;
    },
  };
}

/**
 * Handles the requests of each connection one after another. By default, Node.js emits all pipelined requests at once and buffers their
 * responses, so that a few connections could fill the memory. Closes connections with too many pipelined requests.
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
    if (count === maxPipelined) {
      socket.destroy();
      return;
    }
    waiting.set(socket, count + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
      // Wait until Node.js has attached the socket to the response.
      setImmediate(() => {
        if (!response.destroyed) serve(message, response);
      });
    });
  };
}

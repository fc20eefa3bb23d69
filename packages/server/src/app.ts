import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { authorizeRequest } from './auth/authenticate-request.ts';
import { respondNotFound } from './console/console-page.ts';
import { sendClientError } from './http/client-error.ts';
import { limitConnections } from './http/connections.ts';
import { createEndpoint } from './http/endpoint.ts';
import { createServer } from './http/node-http.ts';
import { createPipeline } from './http/pipeline.ts';
import type { Route } from './http/route.ts';
import { createRouter } from './http/router.ts';
import { respondFromCache } from './plugins/response-cache.ts';
import { routesOf } from './routes.ts';
import type { Services } from './services.ts';

/** The HTTP side. */
export type App = ReturnType<typeof createApp>;

/** Puts the HTTP side together from its parts. */
export function createApp(services: Services, routes: readonly Route[] = routesOf(services.settings.only)) {
  const { settings, addresses } = services;
  const publicUrls = () => [addresses.base(), addresses.instrument()];
  const endpoints = routes.map((route) => createEndpoint(services, route, authorizeRequest));
  const router = createRouter(endpoints, publicUrls, settings.maxHeaderBytes); // a long id is an unknown id
  const { listener, closeAfterResponses } = createPipeline(services, router, {
    respondFromCache,
    respondNotFound: respondNotFound,
    closeIdle: () => server.closeIdleConnections(),
  });
  const server = createServer({
    maxHeaderSize: settings.maxHeaderBytes,
    headersTimeout: settings.headerTimeoutMs,
    requestTimeout: settings.bodyTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, settings.headerTimeoutMs),
  });
  const connections = limitConnections(server, settings.maxConnections);
  const inTurn = connections.sequential(listener);
  server.on('request', inTurn);
  // The caller is authorized before a byte of the body is asked for; see `endpoint.ts`.
  server.on('checkContinue', inTurn);
  // Other expectations may be ignored (RFC 9110 §10.1.1); Node.js would refuse them with an empty response of its own.
  server.on('checkExpectation', inTurn);
  server.on('clientError', (error, socket: Socket) =>
    sendClientError(
      services,
      error,
      socket,
      connections.pendingResponse(socket),
      (target) => router.pathInfo(target)?.errorFormat,
    ),
  );
  closeStalledConnections(server, connections, settings.idleTimeoutMs);
  services.requests?.watchConnections(server);
  return {
    server,
    router,
    /** Responds to requests, wherever they come from. */
    listener,
    /** Starts to listen. @returns the port */
    async listen(host: string, port: number): Promise<number> {
      server.listen(port, host);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    /** Makes every further response the last on its connection. */
    closeAfterResponses,
    /** Stops listening, and resolves once all responses have been sent. */
    async close(): Promise<void> {
      closeAfterResponses();
      services.changes.close(); // event streams would hold up the shutdown for as long as their clients listen
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** How often connections are checked, in milliseconds, at most. */
const maxCheckMs = 5_000;

/**
 * Closes connections that would stay open for ever. One kind is those whose client takes nothing of a response for the idle time-out. A
 * time-out of all connections would also close those whose response is still being worked out, so it is set only where bytes
 * wait to be sent; Node.js restarts it with whatever is taken, and replaces it when the response has ended. The other kind is those
 * without a request, once the server closes.
 */
function closeStalledConnections(server: Server, open: Iterable<Socket>, idleTimeoutMs: number): void {
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

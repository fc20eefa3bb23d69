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
import { mirrorRoutes } from './mirror/mirror-routes.ts';
import { respondFromCache } from './plugins/response-cache.ts';
import { routesOf } from './routes.ts';
import type { Services } from './services.ts';

export type App = ReturnType<typeof createApp>;

/** The maximum interval between two checks of all connections. */
const maxCheckIntervalMs = 5_000;

/** Creates the HTTP server. */
export function createApp(services: Services, declared: readonly Route[] = routesOf(services.settings.only)) {
  const { settings, addresses } = services;
  const routes = settings.mirror === undefined ? declared : mirrorRoutes(declared, settings.mirror);
  const publicUrls = () => [addresses.base(), addresses.instrument()];
  const endpoints = routes.map((route) => createEndpoint(services, route, authorizeRequest));
  const router = createRouter(endpoints, publicUrls, settings.maxHeaderBytes); // a longer id is unknown
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
    connectionsCheckingInterval: Math.min(maxCheckIntervalMs, settings.headerTimeoutMs),
  });
  const connections = limitConnections(server, settings.maxConnections);
  const onRequest = connections.sequential(listener);
  server.on('request', onRequest);
  // The endpoint sends `100 Continue` after it has authorized the caller.
  server.on('checkContinue', onRequest);
  // Other expectations may be ignored (RFC 9110 §10.1.1). By default, Node.js rejects them with an empty response.
  server.on('checkExpectation', onRequest);
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
    listener,
    /** Starts to listen. Returns the port. */
    async listen(host: string, port: number): Promise<number> {
      server.listen(port, host);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    closeAfterResponses,
    /** Stops listening. Resolves when all responses have been sent. */
    async close(): Promise<void> {
      closeAfterResponses();
      services.changes.close(); // event streams never end by themselves
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/**
 * Closes a connection when its client reads nothing of a response for the idle time-out. The time-out is set only while bytes wait to be
 * sent, because a handler may take longer than that to respond. Node.js restarts the time-out whenever the client reads, and
 * replaces it at the end of the response. Also closes unused connections once the server closes.
 */
function closeStalledConnections(server: Server, open: Iterable<Socket>, idleTimeoutMs: number): void {
  const check = (): void => {
    for (const socket of open) {
      // Node.js before 26 doesn't count a connection without a request as idle.
      if (!server.listening && socket.bytesRead === 0) socket.destroy();
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(idleTimeoutMs);
    }
  };
  const timer = setInterval(check, Math.min(maxCheckIntervalMs, idleTimeoutMs)).unref();
  server.once('close', () => clearInterval(timer));
}

import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerClientError } from './http/client-error.ts';
import { closeStalled } from './http/close-stalled.ts';
import { limitConnections } from './http/connections.ts';
import { createEndpoint } from './http/endpoint.ts';
import { createServer } from './http/node-http.ts';
import type { Parts } from './http/parts.ts';
import { createPipeline, type Pipeline } from './http/pipeline.ts';
import type { Route } from './http/route.ts';
import { createRouter, type Router } from './http/router.ts';
import { routesOf } from './http/routes/all.ts';

/** The HTTP side. */
export interface App {
  readonly server: Server;
  readonly router: Router;
  /** Responds to requests, wherever they come from. */
  readonly listener: RequestListener;
  /** Starts to listen. @returns the port */
  listen(host: string, port: number): Promise<number>;
  /** See {@link Pipeline.closeAfterResponses}. */
  closeAfterResponses(): void;
  /** Stops listening, and resolves once all responses have been sent. */
  close(): Promise<void>;
}

/** Puts the HTTP side together from its parts. */
export function createApp(parts: Parts, routes: readonly Route[] = routesOf(parts.settings.only)): App {
  const { settings, addresses } = parts;
  const publicUrls = () => [addresses.base(), addresses.instrument()];
  const endpoints = routes.map((route) => createEndpoint(parts, route));
  const router = createRouter(endpoints, publicUrls, settings.maxHeaderBytes); // a long id is an unknown id
  const { listener, closeAfterResponses } = createPipeline(parts, router, () => server.closeIdleConnections());
  const server = createServer({
    maxHeaderSize: settings.maxHeaderBytes,
    headersTimeout: settings.headerTimeoutMs,
    requestTimeout: settings.bodyTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, settings.headerTimeoutMs),
  });
  const connections = limitConnections(server, settings.maxConnections);
  const inTurn = connections.inTurn(listener);
  server.on('request', inTurn);
  // The caller is authorized before a byte of the body is asked for; see `endpoint.ts`.
  server.on('checkContinue', inTurn);
  // Other expectations may be ignored (RFC 9110 §10.1.1); Node.js would refuse them with an empty response of its own.
  server.on('checkExpectation', inTurn);
  server.on('clientError', (error, socket: Socket) =>
    answerClientError(parts, error, socket, connections.responseOn(socket), (target) => router.at(target)?.errorForm),
  );
  closeStalled(server, connections, settings.idleTimeoutMs);
  parts.requests?.watchConnections(server);
  return {
    server,
    router,
    listener,
    async listen(host, port) {
      server.listen(port, host);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    closeAfterResponses,
    async close() {
      closeAfterResponses();
      parts.news.close(); // event streams would hold up the shutdown for as long as their clients listen
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

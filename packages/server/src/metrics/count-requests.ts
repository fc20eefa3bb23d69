import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Counter, Histogram, Registry } from './registry.ts';

/** Counts requests by the route as it is declared: never by the path, which may hold a guest key or an id. */
export interface RequestCounts {
  /** To be called with each request that goes through the framework, before it does. */
  begin(message: IncomingMessage, response: ServerResponse): void;
  /** Tells by which route a request that has begun is answered. */
  routed(message: IncomingMessage, route: string): void;
  /** Counts a request that was answered from memory, at once. */
  answered(message: IncomingMessage, response: ServerResponse, startedAt: number): void;
  /** Counts a server's connections, and what goes over them: no request pays for that. */
  watchConnections(server: Server): void;
}

/** What is kept of one route and method. */
interface RouteSeries {
  readonly durations: Histogram;
  readonly byStatus: Map<number | 'aborted', Counter>;
}

/** Where the framework's hook leaves the route. */
const routeKey = Symbol('route');

interface RoutedMessage extends IncomingMessage {
  [routeKey]?: string;
}

/** Methods that have a label of their own: those of routes, and what browsers send before them. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** @param fromMemory the route whose answers are given from memory */
export function createRequestCounts(registry: Registry, fromMemory: string): RequestCounts {
  const all = new Map<string, RouteSeries>();
  let inProgress = 0;
  registry.atScrape('tenon_http_requests_in_progress', () => [{ labels: {}, value: inProgress }]);
  const listsFromMemory = registry.counter('tenon_lists_from_memory_total', {});

  const seriesOf = (method: string, route: string): RouteSeries =>
    all.getOrInsertComputed(`${method} ${route}`, () => ({
      durations: registry.histogram('tenon_http_request_duration_seconds', { method, route }),
      byStatus: new Map(),
    }));
  const count = (method: string, route: string, status: number | 'aborted', startedAt: number): void => {
    const { durations, byStatus } = seriesOf(method, route);
    durations.observe((performance.now() - startedAt) / 1000);
    const make = () => registry.counter('tenon_http_requests_total', { method, route, status: String(status) });
    byStatus.getOrInsertComputed(status, make).value++;
  };

  return {
    begin(message: RoutedMessage, response) {
      const startedAt = performance.now();
      inProgress++;
      response.once('close', () => {
        inProgress--;
        const { method = '', [routeKey]: route = '(none)' } = message;
        const status = response.writableFinished ? response.statusCode : 'aborted';
        count(methods.has(method) ? method : 'other', route, status, startedAt);
      });
    },
    routed(message: RoutedMessage, route) {
      message[routeKey] = route;
    },
    answered({ method }, { statusCode }, startedAt) {
      listsFromMemory.value++;
      count(method === 'HEAD' ? 'HEAD' : 'GET', fromMemory, statusCode, startedAt);
    },
    watchConnections: (server) => watchConnections(server, registry),
  };
}

function watchConnections(server: Server, registry: Registry): void {
  const open = new Set<Socket>();
  const closed = { read: 0, written: 0 };
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      closed.read += socket.bytesRead;
      closed.written += socket.bytesWritten;
    });
  });
  const total = (ofClosed: number, of: (socket: Socket) => number) => () => {
    const value = Iterator.from(open).reduce((sum, socket) => sum + of(socket), ofClosed);
    return [{ labels: {}, value }];
  };
  registry.atScrape('tenon_http_connections', () => [{ labels: {}, value: open.size }]);
  registry.atScrape('tenon_network_received_bytes_total', () => total(closed.read, (one) => one.bytesRead)());
  registry.atScrape('tenon_network_sent_bytes_total', () => total(closed.written, (one) => one.bytesWritten)());
}

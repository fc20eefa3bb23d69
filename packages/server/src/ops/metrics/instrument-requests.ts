import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Counter, Histogram, Registry } from './registry.ts';

/** Counts requests by route template, not by path, which may contain a guest key. */
export type RequestCounts = ReturnType<typeof createRequestCounts>;

interface RouteSeries {
  readonly durations: Histogram;
  readonly byStatus: Map<number | 'aborted', Counter>;
}

const routeKey = Symbol('route');

interface RoutedMessage extends IncomingMessage {
  [routeKey]?: string;
}

/** The methods of routes and preflight requests. All others have the label `other`. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createRequestCounts(registry: Registry, listRoute: string) {
  const all = new Map<string, RouteSeries>();
  const open = new Set<Socket>();
  let inProgress = 0;
  registry.valueAtScrape('tenon_http_requests_in_progress', () => inProgress);
  const responseCacheHits = registry.counter('tenon_response_cache_hits_total', {});

  const seriesOf = (method: string, route: string): RouteSeries => {
    const known = all.get(`${method} ${route}`);
    if (known !== undefined) return known;
    const durations = registry.histogram('tenon_http_request_duration_seconds', { method, route });
    const created: RouteSeries = { durations, byStatus: new Map() };
    all.set(`${method} ${route}`, created);
    return created;
  };
  const counterOf = (series: RouteSeries, method: string, route: string, status: number | 'aborted'): Counter => {
    const known = series.byStatus.get(status);
    if (known !== undefined) return known;
    const counter = registry.counter('tenon_http_requests_total', { method, route, status: String(status) });
    series.byStatus.set(status, counter);
    return counter;
  };
  const count = (method: string, route: string, status: number | 'aborted', startedAt: number): void => {
    const series = seriesOf(method, route);
    series.durations.observe((performance.now() - startedAt) / 1000);
    counterOf(series, method, route, status).value++;
  };

  return {
    /** Call for each request that is not in the response cache, before it is handled. */
    begin(message: RoutedMessage, response: ServerResponse): void {
      const startedAt = performance.now();
      inProgress++;
      response.once('close', () => {
        inProgress--;
        const { method = '', [routeKey]: route = '(none)' } = message;
        const status = response.writableFinished ? response.statusCode : 'aborted';
        count(methods.has(method) ? method : 'other', route, status, startedAt);
      });
    },
    setRoute(message: RoutedMessage, route: string): void {
      message[routeKey] = route;
    },
    /** Call for each response from the response cache. */
    cacheHit({ method }: IncomingMessage, { statusCode }: ServerResponse, route: string, startedAt: number): void {
      if (route === listRoute) responseCacheHits.value++;
      count(method === 'HEAD' ? 'HEAD' : 'GET', route, statusCode, startedAt);
    },
    /** The counts since the start, by method and route. The status of aborted requests is 0. */
    *totals() {
      for (const [route, { durations, byStatus }] of all) {
        const statuses = Array.from(
          byStatus,
          ([status, { value }]) => [status === 'aborted' ? 0 : status, value] as const,
        );
        yield { route, byStatus: new Map(statuses), bucketCounts: durations.counts };
      }
    },
    get connections(): number {
      return open.size;
    },
    /** Counts a server's connections and their bytes, at no cost for requests. */
    watchConnections: (server: Server): void => watchConnections(server, registry, open),
  };
}

function watchConnections(server: Server, registry: Registry, open: Set<Socket>): void {
  const closed = { read: 0, written: 0 };
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      closed.read += socket.bytesRead;
      closed.written += socket.bytesWritten;
    });
  });
  const total = (ofClosed: number, of: (socket: Socket) => number): number =>
    Iterator.from(open).reduce((sum, socket) => sum + of(socket), ofClosed);
  registry.valueAtScrape('tenon_http_connections', () => open.size);
  registry.valueAtScrape('tenon_network_received_bytes_total', () => total(closed.read, (socket) => socket.bytesRead));
  registry.valueAtScrape('tenon_network_sent_bytes_total', () =>
    total(closed.written, (socket) => socket.bytesWritten),
  );
}

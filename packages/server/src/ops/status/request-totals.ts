import type { RequestKind } from '@tenon/protocol';
import { bindingsPath } from '../../plugins/binding-routes.ts';
import { artifactPath } from '../../plugins/plugin-routes.ts';
import type { RequestCounts } from '../metrics/instrument-requests.ts';
import { addTotals, boundsMs, kinds, noTotals, type RequestTotals, type TotalsByKind } from './activity.ts';

/** The kinds of requests by route. All other routes are of the kind `others`. */
export const kindsOfRoutes: ReadonlyMap<string, Exclude<RequestKind, 'others'>> = new Map([
  [`GET ${bindingsPath}`, 'lists'],
  [`HEAD ${bindingsPath}`, 'lists'],
  ['GET /api/v1/c/:contentAddress', 'contents'],
  ['HEAD /api/v1/c/:contentAddress', 'contents'],
  [`PUT ${artifactPath}`, 'publishes'],
  ['POST /instrument', 'instrument'],
]);

/** Routes without totals: the duration of an event stream depends on the client. */
export const streamRoutes: ReadonlySet<string> = new Set([
  'GET /api/v1/apps/:appId/changes',
  'GET /api/v1/extension-points/:extensionPointId/changes',
]);

/** Adds up the counts of routes by kind. */
export function totalsOf(requests: RequestCounts | undefined): TotalsByKind {
  const totals = Object.fromEntries(kinds.map((kind) => [kind, noTotals(boundsMs.length)])) as {
    [Kind in RequestKind]: RequestTotals;
  };
  for (const { route, byStatus, bucketCounts } of requests?.totals() ?? []) {
    if (streamRoutes.has(route)) continue;
    const kind = kindsOfRoutes.get(route) ?? 'others';
    const statuses = [...byStatus];
    const sum = (from: number, to: number) =>
      statuses.reduce((all, [status, count]) => all + (status >= from && status < to ? count : 0), 0);
    const counts = { requests: sum(0, Number.POSITIVE_INFINITY), refused: sum(400, 500), failed: sum(500, 600) };
    totals[kind] = addTotals(totals[kind], { ...counts, bucketCounts });
  }
  return totals;
}

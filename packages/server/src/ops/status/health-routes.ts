import { Type } from '@tenon/protocol/type';
import { HttpError } from '../../http/http-error.ts';
import { json, type Route, routeTagged } from '../../http/route.ts';
import { requestLogFields } from '../../http/send-error.ts';
import type { StoreFailure } from './readiness.ts';

const route = routeTagged('Operation');
const retryLater = { 'retry-after': '5' };

/**
 * How long a request with `for=reads` waits for the result about writes, in milliseconds. Load balancers may time out after a second.
 */
const waitForWritesMs = 500;

/** The failures that are in the log. Each is logged once, even if many requests report it: `readiness.ts` caches them. */
const logged = new WeakSet<StoreFailure>();

const health = Type.Object({ status: Type.Literal('ok') });
const readinessResponse = Type.Object({
  status: Type.Literal('ok'),
  writes: Type.Boolean({ description: 'whether the server accepts changes' }),
  reason: Type.Optional(Type.String({ description: 'why the server accepts no changes' })),
});
const readinessQuery = Type.Object({
  for: Type.Optional(
    Type.Union([Type.Literal('reads'), Type.Literal('writes')], {
      description: 'what the server must be able to do; default `reads`',
    }),
  ),
});

export const healthRoutes: readonly Route[] = [
  route('GET', '/healthz', {
    access: { kind: 'public' },
    area: 'both',
    id: 'readHealth',
    summary: 'Liveness: the process responds',
    responses: { 200: json('the process responds', health, { status: 'ok' }) },
    handle: () => ({ status: 'ok' }),
  }),
  route('GET', '/readyz', {
    access: { kind: 'public' },
    area: 'both',
    query: readinessQuery,
    id: 'readReadiness',
    summary: 'Readiness: the stores can be read, the server is not stopping, and a mirror has synchronized once',
    description: 'With `for=writes`, the stores must accept changes too.',
    responses: { 200: json('ready', readinessResponse, { status: 'ok', writes: true }) },
    errors: ['unavailable'],
    handle: async (services, { request, query }) => {
      const { readiness, draining, log } = services;
      if (draining.isOn) throw new HttpError('unavailable', 'Not ready: this server is stopping.', retryLater);
      const [failures, writeFailures] = await Promise.all([
        readiness.failures(),
        readiness.writeFailures(query.for === 'writes' ? undefined : waitForWritesMs),
      ]);
      const logAndDescribe = (found: readonly StoreFailure[], message: string): string => {
        for (const failure of found) {
          if (logged.has(failure)) continue;
          logged.add(failure);
          log.error({ ...requestLogFields(services, request), err: failure.cause, store: failure.store }, message);
        }
        return found.map(({ store, reason }) => `the ${store} ${reason}`).join('; ');
      };
      if (failures.length > 0)
        throw new HttpError('unavailable', `Not ready: ${logAndDescribe(failures, 'not ready')}.`, retryLater);
      if (!(await services.isSynchronized()))
        throw new HttpError('unavailable', 'Not ready: the first synchronization is not complete.', retryLater);
      if (writeFailures.length === 0) return { status: 'ok', writes: true };
      const reason = logAndDescribe(writeFailures, 'not ready for changes');
      if (query.for !== 'writes') return { status: 'ok', writes: false, reason };
      throw new HttpError('unavailable', `Not ready for changes: ${reason}.`, retryLater);
    },
  }),
];

import { Type } from 'typebox';
import type { StoreFailure } from '../../domain/readiness.ts';
import { lineOf } from '../answer-error.ts';
import { HttpError } from '../http-error.ts';
import { type Route, route } from '../route.ts';

const tag = 'Operation';
const retryLater = { 'retry-after': '5' };

/** How long a balancer of reads waits to be told of writes, in milliseconds: it may give up after a second. */
const waitForWritesMs = 500;

/** The failures that were logged: one is logged once, however many requests meet it. */
const logged = new WeakSet<StoreFailure>();

const health = Type.Object({ status: Type.Literal('ok') });
const readinessAnswer = Type.Object({
  status: Type.Literal('ok'),
  writes: Type.Boolean({ description: 'whether changes are taken too' }),
  reason: Type.Optional(Type.String({ description: 'why changes are not taken' })),
});
const readinessQuery = Type.Object({
  for: Type.Optional(
    Type.Union([Type.Literal('reads'), Type.Literal('writes')], {
      description: 'what the server must be able to do for a 200; `reads` by default',
    }),
  ),
});

export const healthRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    access: { kind: 'public' },
    area: 'both',
    doc: {
      id: 'readHealth',
      tag,
      summary: 'Whether the process is alive',
      answers: { 200: { description: 'it is', schema: health, example: { status: 'ok' } } },
    },
    handle: () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    access: { kind: 'public' },
    area: 'both',
    query: readinessQuery,
    doc: {
      id: 'readReadiness',
      tag,
      summary: 'Whether requests can be served: the stores can be read, and the server is not about to stop',
      description: 'With `for=writes`, it also fails when a store takes no changes.',
      answers: {
        200: { description: 'they can', schema: readinessAnswer, example: { status: 'ok', writes: true } },
      },
      errors: ['unavailable'],
    },
    handle: async (parts, { request, query }) => {
      const { readiness, draining, log } = parts;
      if (draining.isOn()) throw new HttpError('unavailable', 'Not ready: this server is stopping.', retryLater);
      const [failures, writeFailures] = await Promise.all([
        readiness.failures(),
        readiness.writeFailures(query.for === 'writes' ? undefined : waitForWritesMs),
      ]);
      const tell = (found: readonly StoreFailure[], message: string): string => {
        for (const failure of found) {
          if (logged.has(failure)) continue;
          logged.add(failure);
          log.error({ ...lineOf(parts, request), err: failure.cause, store: failure.store }, message);
        }
        return found.map(({ store, reason }) => `the ${store} ${reason}`).join('; ');
      };
      if (failures.length > 0)
        throw new HttpError('unavailable', `Not ready: ${tell(failures, 'not ready')}.`, retryLater);
      if (writeFailures.length === 0) return { status: 'ok', writes: true };
      const reason = tell(writeFailures, 'not ready for changes');
      if (query.for !== 'writes') return { status: 'ok', writes: false, reason };
      throw new HttpError('unavailable', `Not ready for changes: ${reason}.`, retryLater);
    },
  }),
];

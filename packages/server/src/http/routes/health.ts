import { Type } from 'typebox';
import { lineOf } from '../answer-error.ts';
import { HttpError } from '../http-error.ts';
import { type Route, route } from '../route.ts';

const tag = 'Operation';
const retryLater = { 'retry-after': '5' };
const health = Type.Object({ status: Type.Literal('ok') });

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
    doc: {
      id: 'readReadiness',
      tag,
      summary: 'Whether requests can be served: the stores answer, and the server is not about to stop',
      answers: { 200: { description: 'they do', schema: health, example: { status: 'ok' } } },
      errors: ['unavailable'],
    },
    handle: async (parts, { request }) => {
      const { readiness, draining, log } = parts;
      if (draining.isOn()) throw new HttpError('unavailable', 'Not ready: this server is stopping.', retryLater);
      const failures = await readiness.failures();
      for (const { store, cause } of failures) log.error({ ...lineOf(parts, request), err: cause, store }, 'not ready');
      if (failures.length === 0) return { status: 'ok' };
      const told = failures.map(({ store, reason }) => `the ${store} ${reason}`).join('; ');
      throw new HttpError('unavailable', `Not ready: ${told}.`, retryLater);
    },
  }),
];

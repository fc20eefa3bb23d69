import { Type } from 'typebox';
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
    handle: async ({ context, draining, log }) => {
      if (draining.isOn()) throw new HttpError('unavailable', 'Not ready: this server is stopping.', retryLater);
      const stores = { 'metadata store': context.store, 'blob store': context.blobs };
      const failed: string[] = [];
      for (const [name, store] of Object.entries(stores)) {
        await store.ping().catch((error: unknown) => {
          log.error({ err: error, store: name }, 'not ready');
          failed.push(name);
        });
      }
      if (failed.length === 0) return { status: 'ok' };
      throw new HttpError('unavailable', `Not ready: the ${failed.join(' and the ')} can't be used.`, retryLater);
    },
  }),
];

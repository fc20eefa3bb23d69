import { clearBody, emptyBody } from './body.ts';
import { addressOf } from './content-address.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter, Source } from './events.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';
import type { Requester } from './requester.ts';
import { createSingleflight } from './singleflight.ts';
import type { VerifiedStore } from './verified-store.ts';

export type Contents = ReturnType<typeof createContents>;

export interface ContentsDeps {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly requester: Requester;
  readonly store: VerifiedStore | undefined;
}

/** Plugin bytes by their content address. They are immutable, so cached bytes never expire. */
export function createContents({ settings, events, requester, store }: ContentsDeps) {
  const { limits, retry } = settings;
  const memory = createLru<Uint8Array<ArrayBuffer>>(settings.memory.maxContentBytes);
  const singleflight = createSingleflight();

  const emitLookup = (source: Source | 'failed') => {
    if (events.has('lookup')) events.emit('lookup', { kind: 'content', source, isStale: false });
  };

  async function find(address: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const stored = await store?.readContent(address);
    if (stored !== undefined) {
      emitLookup('store');
      return stored;
    }
    if (settings.isOffline) throw new ClientError('offline', 'The content is not cached and the client is offline');
    const bytes = await fetchContent(address, signal);
    emitLookup('network');
    store?.writeContent(address, bytes);
    return bytes;
  }

  function fetchContent(address: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    // An interrupted download is resumed: on a slow connection a large content might never arrive whole.
    const partial = { body: emptyBody(), etag: `"${address}"` };
    const request = {
      operation: 'content',
      partial,
      path: `/api/v1/c/${address}`,
      headers: { accept: 'application/wasm' },
      maxBytes: limits.maxContentBytes,
      cache: 'default', // browsers cache contents as well
    } as const;
    return requester.send(request, retry.maxRetries, signal, async ({ bytes }) => {
      if ((await addressOf(bytes)) === address) return bytes;
      clearBody(partial.body);
      throw new ClientError('content_mismatch', 'The received bytes do not match their content address');
    });
  }

  return {
    /** @returns shared bytes: callers must not change them or hand them out */
    async read(address: string, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
      if (signal?.aborted) throw aborted(signal);
      const cached = memory.get(address);
      if (cached !== undefined) {
        emitLookup('memory');
        return cached;
      }
      const flight = singleflight.join(address, async (ended) => {
        try {
          const bytes = await find(address, ended);
          memory.set(address, bytes, bytes.length);
          return bytes;
        } catch (error) {
          emitLookup('failed');
          throw error;
        }
      });
      return flight.wait(signal);
    },
    /** The same without a request to the server. */
    async readCached(address: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
      return memory.get(address) ?? store?.readContent(address);
    },
    abortAll: (reason: ClientError): void => singleflight.abortAll(reason),
  };
}

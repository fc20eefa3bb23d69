import { emptyBody, forgetBody } from './body.ts';
import { addressOf } from './content-address.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter, Source } from './events.ts';
import { createFlights } from './flights.ts';
import type { KeptStore } from './kept-store.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';
import type { Requester } from './requester.ts';

/** Plugins' bytes by their address. They never change, so whatever is kept is right for good. */
export interface Contents {
  /** @returns bytes that are not to be changed, nor handed out: others get the same */
  read(address: string, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>>;
  /** The same, without asking the server. */
  readKept(address: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  endAll(reason: ClientError): void;
}

export interface ContentParts {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly requester: Requester;
  readonly kept: KeptStore | undefined;
}

export function createContents({ settings, events, requester, kept }: ContentParts): Contents {
  const { limits, retry } = settings;
  const memory = createLru<Uint8Array<ArrayBuffer>>(settings.memory.maxContentBytes);
  const flights = createFlights();

  const told = (source: Source | 'failed') => {
    if (events.has('lookup')) events.emit('lookup', { kind: 'content', source, isStale: false });
  };

  async function find(address: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const stored = await kept?.readContent(address);
    if (stored !== undefined) {
      told('store');
      return stored;
    }
    if (settings.isOffline) throw new ClientError('offline', 'The content is not kept, and the client works offline');
    const bytes = await fetchContent(address, signal);
    told('network');
    kept?.writeContent(address, bytes);
    return bytes;
  }

  function fetchContent(address: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    // A content that is cut off is not fetched from its beginning again: on a slow line a large one might never come.
    const partial = { body: emptyBody(), etag: `"${address}"` };
    const request = {
      operation: 'content',
      partial,
      path: `/api/v1/c/${address}`,
      headers: { accept: 'application/wasm' },
      maxBytes: limits.maxContentBytes,
      cache: 'default', // a browser keeps contents itself
    } as const;
    return requester.ask(request, retry.attempts, signal, async ({ bytes }) => {
      if ((await addressOf(bytes)) === address) return bytes;
      forgetBody(partial.body);
      throw new ClientError('content_mismatch', 'The bytes that came are not those of their content address');
    });
  }

  return {
    async read(address, signal) {
      if (signal?.aborted) throw aborted(signal);
      const held = memory.get(address);
      if (held !== undefined) {
        told('memory');
        return held;
      }
      const flight = flights.join(address, async (ended) => {
        try {
          const bytes = await find(address, ended);
          memory.set(address, bytes, bytes.length);
          return bytes;
        } catch (error) {
          told('failed');
          throw error;
        }
      });
      return flight.wait(signal);
    },
    async readKept(address) {
      return memory.get(address) ?? kept?.readContent(address);
    },
    endAll: (reason) => flights.endAll(reason),
  };
}

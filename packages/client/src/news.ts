import { ClientError } from './errors.ts';
import type { Emitter } from './events.ts';
import type { News } from './lists.ts';
import { followExtensionPoint, type NewsStream, type StreamParts, type StreamPlaces } from './news-stream.ts';

/** News, and how to have done with it. */
export interface NewsSource extends News {
  close(): void;
}

export interface NewsParts extends Omit<StreamParts, 'places'> {
  readonly events: Pick<Emitter, 'has'>;
}

/**
 * How long lists of an extension point are in use before it is worth a connection. A script that asks once and is done needs none, and
 * would not end while it is open.
 */
const inUseMs = 1_000;

/** An extension point in use; `stream` once it is followed. */
interface Use {
  readonly firstMs: number;
  stream: NewsStream | undefined;
}

/**
 * Follows the news of the extension points whose lists are in use, each by a stream of its own. Where there is none to be had, nothing is told, and
 * lists are asked for when they are old.
 */
export function createNews({ settings, events, transport, receiver }: NewsParts): NewsSource {
  const { clock, maxNewsStreams, isOffline } = settings;
  const uses = new Map<string, Use>();
  const controller = new AbortController();
  let free = maxNewsStreams;
  const places: StreamPlaces = {
    take() {
      if (free < 1) return false;
      free--;
      return true;
    },
    give() {
      free++;
    },
  };

  return {
    follow(extensionPointId) {
      if (free < 1 || isOffline || controller.signal.aborted) return;
      let use = uses.get(extensionPointId);
      if (use?.stream !== undefined) return;
      if (use === undefined) {
        use = { firstMs: clock.monotonicMs(), stream: undefined };
        uses.set(extensionPointId, use);
      }
      // Who listens for changes wants to be told of them, without asking.
      if (!events.has('changed') && clock.monotonicMs() - use.firstMs < inUseMs) return;
      if (!places.take()) return;
      use.stream = followExtensionPoint({ settings, transport, receiver, places }, extensionPointId, controller.signal);
    },
    toldSince: (extensionPointId) => uses.get(extensionPointId)?.stream?.toldSince(),
    close() {
      controller.abort(new ClientError('closed', 'The client was closed'));
    },
  };
}

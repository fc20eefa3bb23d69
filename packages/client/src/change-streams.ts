import type { ChangeSource } from './change-source.ts';
import { type ChangeStream, type ChangeStreamDeps, openChangeStream } from './change-stream.ts';
import { ClientError } from './errors.ts';
import type { Emitter } from './events.ts';
import { createSemaphore } from './semaphore.ts';

export interface ChangeStreamsDeps extends Omit<ChangeStreamDeps, 'semaphore'> {
  readonly events: Pick<Emitter, 'has'>;
}

/** How long lists are in use before a stream opens. A script that makes one call needs none, and a stream would keep it alive. */
const inUseMs = 1_000;

/** An extension point whose lists are in use. It has a stream once it is followed. */
interface Usage {
  readonly firstMs: number;
  stream: ChangeStream | undefined;
}

/** Opens a change stream for each extension point whose lists are in use. Without a stream, lists expire by their age. */
export function createChangeStreams({
  settings,
  events,
  transport,
  receiver,
}: ChangeStreamsDeps): ChangeSource & { close(): void } {
  const { clock, maxStreams, isOffline } = settings;
  const usages = new Map<string, Usage>();
  const controller = new AbortController();
  const { signal } = controller;
  const semaphore = createSemaphore(maxStreams);

  return {
    follow(extensionPointId) {
      if (!semaphore.isAvailable() || isOffline || signal.aborted) return;
      let usage = usages.get(extensionPointId);
      if (usage?.stream !== undefined) return;
      if (usage === undefined) {
        usage = { firstMs: clock.monotonicMs(), stream: undefined };
        usages.set(extensionPointId, usage);
      }
      // A listener expects changes without further calls.
      if (!events.has('change') && clock.monotonicMs() - usage.firstMs < inUseMs) return;
      if (!semaphore.tryAcquire()) return;
      usage.stream = openChangeStream({ settings, transport, receiver, semaphore }, extensionPointId, signal);
    },
    liveSince: (extensionPointId) => usages.get(extensionPointId)?.stream?.liveSince(),
    confirmedMs: (extensionPointId, sequence) =>
      usages.get(extensionPointId)?.stream?.confirmedMs(sequence) ?? Number.NEGATIVE_INFINITY,
    close() {
      controller.abort(new ClientError('closed', 'The client was closed'));
    },
  };
}

import type { BindingList } from './bindings.ts';
import { ClientError } from './errors.ts';

/** What a request is for. */
export type Operation = 'bindings' | 'content' | 'news';

/** Which list an event is about. Guest keys are private to the application: keep them out of metrics and logs. */
export interface ListKey {
  readonly extensionPointId: string;
  readonly guestKey: string;
}

/** Header fields that say to which trace a request belongs: https://www.w3.org/TR/trace-context/ */
export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

/** What the client tells while it works, by type. */
export interface ClientEvents {
  /** A list turned out to be another one than before. */
  readonly changed: ListKey & { readonly list: BindingList; readonly previous: BindingList };
  /** From now on a list is served as it was kept, since it can't be asked for. Told once, until `recovered`. */
  readonly stale: ListKey & { readonly ageMs: number; readonly problem: ClientError };
  /** A list that was `stale` was confirmed or renewed. */
  readonly recovered: ListKey;
  /** Something went wrong that no call fails with: in the store, in a listener, or in what goes on beside the calls. */
  readonly problem: { readonly error: ClientError };
  /** A request is about to be sent. */
  readonly sending: {
    readonly operation: Operation;
    /** 1 for the first. */
    readonly attempt: number;
    /** Milliseconds since 1970. */
    readonly startedAtMs: number;
    /** What goes with it, for listeners to fill: `traceparent` and `tracestate`. Others stay behind. */
    readonly headers: TraceHeaders;
  };
  /** A request has ended, well or not. */
  readonly request: {
    readonly operation: Operation;
    /** 1 for the first. */
    readonly attempt: number;
    /** Milliseconds since 1970. */
    readonly startedAtMs: number;
    readonly durationMs: number;
    /** The HTTP status, where there was an answer. */
    readonly status: number | undefined;
    /** Bytes of the answer's body. */
    readonly receivedBytes: number;
    readonly error: ClientError | undefined;
    /** The same object as in `sending`. */
    readonly headers: TraceHeaders;
  };
  /** A list, a content or a module was asked for, and where it came from. */
  readonly lookup: {
    readonly kind: 'list' | 'content' | 'module';
    /** `compiled`: a module that was not kept; what it was compiled from has a lookup of its own. `failed`: it came from nowhere. */
    readonly source: Source | 'compiled' | 'failed';
    readonly isStale: boolean;
  };
}

/** Where something came from: `not_modified` is a kept list that the server has confirmed. */
export type Source = 'memory' | 'store' | 'network' | 'not_modified';

export type ClientEventType = keyof ClientEvents;

export interface Emitter {
  /** Listens; the answer ends that. Listeners are called one after the other, in the middle of the work: be quick. */
  on<T extends ClientEventType>(type: T, listener: (event: ClientEvents[T]) => void): () => void;
  emit<T extends ClientEventType>(type: T, event: ClientEvents[T]): void;
  /** Whether anybody listens: spares making events that nobody gets. */
  has(type: ClientEventType): boolean;
}

export function createEmitter(): Emitter {
  const listeners = new Map<ClientEventType, Set<(event: never) => void>>();

  const emit: Emitter['emit'] = (type, event) => {
    const those = listeners.get(type) as Set<(event: ClientEvents[typeof type]) => void> | undefined;
    for (const listener of [...(those ?? [])]) {
      try {
        listener(event);
      } catch (cause) {
        // What a listener does is no reason for a call to fail. One for problems that throws can't be told of.
        const error = new ClientError('listener_failed', `A listener for "${type}" threw`, { cause });
        if (type !== 'problem') emit('problem', { error });
      }
    }
  };

  return {
    on(type, listener) {
      const those = listeners.get(type) ?? new Set();
      listeners.set(type, those.add(listener));
      return () => {
        those.delete(listener);
      };
    },
    emit,
    has: (type) => (listeners.get(type)?.size ?? 0) > 0,
  };
}

import type { Provenance } from './attestation.ts';
import type { BindingList } from './bindings.ts';
import { ClientError } from './errors.ts';

/** The purpose of a request. */
export type Operation = 'bindings' | 'content' | 'attestations' | 'changes' | 'reports';

/** Identifies a binding list. Guests must not see guest keys: keep them out of what guests can read. */
export interface BindingsKey {
  readonly extensionPointId: string;
  /** The application's own name for the guest. */
  readonly guestKey: string;
}

/** Identifies a plugin. Without `name`, the plugin that changed last (for `warmUp()`: all plugins). */
export interface PluginKey extends BindingsKey {
  readonly name?: string | undefined;
}

/** Header fields of a trace: https://www.w3.org/TR/trace-context/ */
export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

/** The client's events, by type. */
export interface ClientEvents {
  /** A binding list changed. */
  readonly change: BindingsKey & { readonly bindings: BindingList; readonly previous: BindingList };
  /** The client serves a stale list because the server can't be asked. Emitted once per list until `recover`. */
  readonly stale: BindingsKey & { readonly ageMs: number; readonly error: ClientError };
  /** The server confirmed or replaced a list that was `stale`. */
  readonly recover: BindingsKey;
  /** The provenance of a plugin is not verified. Emitted once per plugin and content until that changes. */
  readonly provenance: {
    readonly id: string;
    readonly name: string;
    readonly contentAddress: string;
    readonly provenance: Provenance;
  };
  /** An error that fails no call: in the store, in a listener, or in background work. */
  readonly error: { readonly error: ClientError };
  /** A request is about to be sent. */
  readonly request: {
    readonly operation: Operation;
    /** 1 for the first. */
    readonly attempt: number;
    /** Milliseconds since 1970. */
    readonly startedAtMs: number;
    /** Listeners may set `traceparent` and `tracestate`, which are sent. Other fields are ignored. */
    readonly headers: TraceHeaders;
  };
  /** A request ended, with a response or an error. */
  readonly response: {
    readonly operation: Operation;
    /** 1 for the first. */
    readonly attempt: number;
    /** Milliseconds since 1970. */
    readonly startedAtMs: number;
    readonly durationMs: number;
    /** The HTTP status if there was a response. */
    readonly status: number | undefined;
    /** Bytes of the response body. */
    readonly receivedBytes: number;
    readonly error: ClientError | undefined;
    /** The same object as in `request`. */
    readonly headers: TraceHeaders;
  };
  /** A list, a content or a module was looked up. */
  readonly lookup: {
    readonly kind: 'list' | 'content' | 'module';
    /** `compiled`: a module that was not cached; its content has a lookup as well. `failed`: not found. */
    readonly source: Source | 'compiled' | 'failed';
    readonly isStale: boolean;
  };
}

/** Where a result came from. `not_modified` is a cached list that the server confirmed. */
export type Source = 'memory' | 'store' | 'network' | 'not_modified';

export type ClientEventType = keyof ClientEvents;

export interface Emitter {
  /** Adds a listener, which is called synchronously. Returns a function that removes it. */
  on<T extends ClientEventType>(type: T, listener: (event: ClientEvents[T]) => void): () => void;
  emit<T extends ClientEventType>(type: T, event: ClientEvents[T]): void;
  /** Whether the type has listeners. If not, callers can skip building the event. */
  has(type: ClientEventType): boolean;
}

export function createEmitter(): Emitter {
  const listeners = new Map<ClientEventType, Set<(event: never) => void>>();

  const emit: Emitter['emit'] = (type, event) => {
    const ofType = listeners.get(type) as Set<(event: ClientEvents[typeof type]) => void> | undefined;
    for (const listener of [...(ofType ?? [])]) {
      try {
        listener(event);
      } catch (cause) {
        // A listener that throws must not fail a call. If it listens for errors, its error has no receiver.
        const error = new ClientError('listener_failed', `A listener for "${type}" threw`, { cause });
        if (type !== 'error') emit('error', { error });
      }
    }
  };

  return {
    on(type, listener) {
      const ofType = listeners.get(type) ?? new Set();
      listeners.set(type, ofType.add(listener));
      return () => {
        ofType.delete(listener);
      };
    },
    emit,
    has: (type) => (listeners.get(type)?.size ?? 0) > 0,
  };
}

import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@tenon/protocol';
import type { Settings } from '../../config/settings.ts';
import type { BodyMemory, ByteLease } from './body-memory.ts';

/** A request body that has not been read yet. */
export interface BodySource {
  readonly message: IncomingMessage;
  /** The media type in lower case, without parameters; empty if the request has none. */
  readonly mediaType: string;
  readonly limits: Pick<
    Settings,
    'maxModuleBytes' | 'maxJsonBytes' | 'maxConfigBytes' | 'maxMultipartParts' | 'idleTimeoutMs'
  >;
  /** Whether the idle time-out restarts with each chunk. An unauthenticated client must send the whole body within one time-out. */
  readonly mayBeSlow: boolean;
  readonly memory: BodyMemory;
  readonly lease: Pick<ByteLease, 'take'>;
}

/** Reads one kind of body, and describes it in OpenAPI. */
export interface BodyReader<T> {
  read(source: BodySource): Promise<T>;
  readonly doc: {
    readonly required: boolean;
    readonly content: Readonly<
      Record<string, { readonly schema: object; readonly example?: unknown; readonly encoding?: object }>
    >;
    readonly errors: readonly ErrorCode[];
  };
}

import type { Contents } from './contents.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter, ListKey } from './events.ts';
import type { Lists } from './lists.ts';
import type { Modules } from './modules.ts';

/** What to have at hand: all plugins of a guest key, or one of them. */
export interface WarmUpKey extends ListKey {
  readonly name?: string | undefined;
}

export interface WarmUpOptions {
  /** How many keys are worked on at a time. Default: 8. */
  readonly concurrency?: number | undefined;
  /** Whether to compile the plugins, too. Default: `true`. */
  readonly compile?: boolean | undefined;
  readonly onProgress?: ((progress: WarmUpProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WarmUpProgress {
  /** Keys that are done with, failed ones included. */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
}

export interface WarmUpReport {
  readonly keys: number;
  /** Plugins that are at hand now; one that is bound to several keys counts for each. */
  readonly plugins: number;
  readonly failures: readonly { readonly key: WarmUpKey; readonly error: ClientError }[];
}

export interface WarmUpParts {
  readonly events: Emitter;
  readonly lists: Lists;
  readonly contents: Contents;
  readonly modules: Modules;
}

/**
 * Gets what will be asked for. That one key fails does not end it.
 *
 * @throws ClientError `aborted`, `closed`
 */
export async function warmUp(
  { events, lists, contents, modules }: WarmUpParts,
  keys: readonly WarmUpKey[],
  { concurrency = 8, compile = true, onProgress, signal }: WarmUpOptions,
): Promise<WarmUpReport> {
  const failures: { key: WarmUpKey; error: ClientError }[] = [];
  let plugins = 0;
  let done = 0;

  async function warm(key: WarmUpKey): Promise<void> {
    const { list } = await lists.lookUp(key, { signal });
    if (key.name !== undefined && list[key.name] === undefined) {
      throw new ClientError('no_plugin', 'No plugin of this name is bound to the guest key');
    }
    for (const [name, { contentAddress }] of Object.entries(list)) {
      if (key.name !== undefined && key.name !== name) continue;
      if (compile) await modules.load(contentAddress, signal);
      else await contents.read(contentAddress, signal);
      plugins++;
    }
  }

  function tell(): void {
    try {
      onProgress?.({ done, total: keys.length, failed: failures.length });
    } catch (cause) {
      events.emit('problem', { error: new ClientError('listener_failed', '`onProgress` threw', { cause }) });
    }
  }

  const rest = keys.values();
  const work = async () => {
    for (const key of rest) {
      try {
        await warm(key);
      } catch (cause) {
        const error = cause as ClientError;
        if (signal?.aborted) throw aborted(signal);
        if (error.code === 'closed') throw error;
        failures.push({ key, error });
      }
      done++;
      tell();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, keys.length)) }, work));
  return { keys: keys.length, plugins, failures };
}

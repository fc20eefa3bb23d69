import type { Contents } from './contents.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter, PluginKey } from './events.ts';
import type { Lists } from './lists.ts';
import type { Modules } from './modules.ts';
import type { Provenances } from './provenances.ts';

export interface WarmUpOptions {
  /** How many keys are loaded at a time. Default: 8. */
  readonly concurrency?: number | undefined;
  /** Whether to compile the plugins. Default: `true`. */
  readonly compile?: boolean | undefined;
  readonly onProgress?: ((progress: WarmUpProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WarmUpProgress {
  /** Finished keys, including those that failed. */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
}

export interface WarmUpReport {
  readonly keys: number;
  /** Loaded plugins. A plugin that is bound to several keys counts for each. */
  readonly plugins: number;
  readonly failures: readonly { readonly key: PluginKey; readonly error: ClientError }[];
}

export interface WarmUpDeps {
  readonly events: Emitter;
  readonly lists: Lists;
  readonly contents: Contents;
  readonly modules: Modules;
  readonly provenances: Provenances;
}

/**
 * Loads plugins ahead of their use. A key that fails doesn't stop the others.
 *
 * @throws ClientError `aborted`, `closed`
 */
export async function warmUp(
  { events, lists, contents, modules, provenances }: WarmUpDeps,
  keys: readonly PluginKey[],
  { concurrency = 8, compile = true, onProgress, signal }: WarmUpOptions,
): Promise<WarmUpReport> {
  const failures: { key: PluginKey; error: ClientError }[] = [];
  let plugins = 0;
  let done = 0;

  async function warm(key: PluginKey): Promise<void> {
    const { bindings } = await lists.get(key, { signal });
    if (key.name !== undefined && bindings[key.name] === undefined) {
      throw new ClientError('no_plugin', 'No plugin of this name is bound to the guest key');
    }
    const { extensionPointId } = key;
    for (const [name, binding] of Object.entries(bindings)) {
      if (key.name !== undefined && key.name !== name) continue;
      await provenances.check({ extensionPointId, name, binding }, signal);
      const { contentAddress } = binding;
      if (compile) await modules.load(contentAddress, signal);
      else await contents.read(contentAddress, signal);
      plugins++;
    }
  }

  function reportProgress(): void {
    try {
      onProgress?.({ done, total: keys.length, failed: failures.length });
    } catch (cause) {
      events.emit('error', { error: new ClientError('listener_failed', '`onProgress` threw', { cause }) });
    }
  }

  const remaining = keys.values();
  const work = async () => {
    for (const key of remaining) {
      try {
        await warm(key);
      } catch (cause) {
        const error = cause as ClientError;
        if (signal?.aborted) throw aborted(signal);
        if (error.code === 'closed') throw error;
        failures.push({ key, error });
      }
      done++;
      reportProgress();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, keys.length)) }, work));
  return { keys: keys.length, plugins, failures };
}

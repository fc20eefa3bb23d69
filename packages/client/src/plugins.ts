import type { Provenance } from './attestation.ts';
import { type Binding, newestName } from './bindings.ts';
import { ClientError, isUnauthorized } from './errors.ts';
import type { Emitter, PluginKey } from './events.ts';
import type { LastLoaded } from './last-loaded.ts';
import type { BindingsResult, CallOptions, Lists } from './lists.ts';
import type { Modules } from './modules.ts';
import type { Settings } from './options.ts';
import type { Provenances } from './provenances.ts';

/** A compiled plugin with its binding and its age. */
export interface LoadedPlugin extends Binding {
  readonly name: string;
  readonly module: WebAssembly.Module;
  /** Milliseconds since the server last confirmed the binding. `Infinity` if unknown. */
  readonly ageMs: number;
  /** Whether the server can't be asked for the binding, or a newer bound version can't be fetched. */
  readonly isStale: boolean;
  /** Why it is stale. */
  readonly error: ClientError | undefined;
  /** `undefined` if the client doesn't verify. */
  readonly provenance: Provenance | undefined;
}

export interface PluginsDeps {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly lists: Lists;
  readonly modules: Modules;
  readonly provenances: Provenances;
  readonly lastLoaded: LastLoaded;
}

export function createPlugins({ settings, events, lists, modules, provenances, lastLoaded }: PluginsDeps) {
  const { clock, staleIfErrorMs } = settings;

  async function loadBound(key: PluginKey, result: BindingsResult, signal?: AbortSignal): Promise<LoadedPlugin> {
    const { bindings, ageMs, isStale, error } = result;
    const checkedMs = clock.monotonicMs() - ageMs;
    const { name, binding } = choose(result, key.name);
    const { extensionPointId } = key;
    const provenance = await provenances.check({ extensionPointId, name, binding }, signal);
    const module = await modules.load(binding.contentAddress, signal);
    lastLoaded.remember(key, bindings, { name, binding, provenance, checkedMs });
    return { name, ...binding, module, ageMs, isStale, error, provenance };
  }

  /**
   * Loads the last loaded version if the bound version can't be fetched or isn't verified. The same version would be served if the list could not be
   * fetched. A plugin that is not bound is never served.
   */
  async function loadLast(
    key: PluginKey,
    { bindings }: BindingsResult,
    maxAgeMs: number,
    error: ClientError,
  ): Promise<LoadedPlugin> {
    const last = lastLoaded.find(key);
    if (last === undefined || bindings[last.name] === undefined) throw error;
    const ageMs = clock.monotonicMs() - last.checkedMs;
    const isServable = ageMs <= maxAgeMs + staleIfErrorMs;
    const module = isServable ? await modules.loadCached(last.binding.contentAddress) : undefined;
    if (module === undefined) throw error;
    const { name, binding, provenance } = last;
    return { name, ...binding, module, ageMs, isStale: true, error, provenance };
  }

  return {
    async load(key: PluginKey, options: CallOptions): Promise<LoadedPlugin> {
      let result = await lists.get(key, options);
      for (let isLast = false; ; isLast = true) {
        try {
          return await loadBound(key, result, options.signal);
        } catch (cause) {
          const error = cause as ClientError;
          if (mustFail(error, options.signal, settings)) throw error;
          // A content that is gone may belong to an outdated list.
          if (error.status !== 404 || isLast)
            return loadLast(key, result, options.maxAgeMs ?? settings.maxAgeMs, error);
          result = await lists.get(key, { ...options, maxAgeMs: 0 });
        }
      }
    },
    /** The module, if the list is fresh and the module is in memory. */
    getCached(key: PluginKey, { maxAgeMs, signal }: CallOptions): WebAssembly.Module | undefined {
      const list = signal?.aborted ? undefined : lists.getFresh(key, maxAgeMs);
      const name = key.name ?? list?.newest;
      const binding = name === undefined ? undefined : list?.bindings[name];
      if (list === undefined || name === undefined || binding === undefined) return undefined;
      const { extensionPointId } = key;
      const provenance = provenances.getKnown({ extensionPointId, name, binding });
      const module = provenance === 'unknown' ? undefined : modules.getCached(binding.contentAddress);
      if (module === undefined || provenance === 'unknown') return undefined;
      lastLoaded.remember(key, list.bindings, { name, binding, provenance, checkedMs: list.checkedMs });
      if (events.has('lookup')) {
        events.emit('lookup', { kind: 'list', source: 'memory', isStale: false });
        events.emit('lookup', { kind: 'module', source: 'memory', isStale: false });
      }
      return module;
    },
  };
}

function choose(
  { bindings, error }: BindingsResult,
  wanted: string | undefined,
): { readonly name: string; readonly binding: Binding } {
  const name = wanted ?? newestName(bindings);
  const binding = name === undefined ? undefined : bindings[name];
  if (name !== undefined && binding !== undefined) return { name, binding };
  const isEmpty = Object.keys(bindings).length === 0;
  const text = isEmpty ? 'No plugin is bound to the guest key' : 'No plugin of this name is bound to the guest key';
  throw new ClientError('no_plugin', text, { cause: error });
}

/** Errors that another version doesn't help against. */
function mustFail(error: ClientError, signal: AbortSignal | undefined, { staleOnUnauthorized }: Settings): boolean {
  return (
    signal?.aborted === true ||
    ['closed', 'no_plugin', 'invalid_module'].includes(error.code) ||
    (isUnauthorized(error) && !staleOnUnauthorized)
  );
}

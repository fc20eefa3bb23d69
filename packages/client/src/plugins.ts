import { type Binding, type BindingList, newestName } from './bindings.ts';
import { ClientError } from './errors.ts';
import type { Emitter, ListKey } from './events.ts';
import type { ListAnswer, ListOptions, Lists } from './lists.ts';
import { createLoadedBefore } from './loaded-before.ts';
import type { Modules } from './modules.ts';
import type { Settings } from './options.ts';

/** A plugin that is ready to be instantiated, and how sure one can be that it is the one to use. */
export interface LoadedPlugin extends Binding {
  readonly name: string;
  readonly module: WebAssembly.Module;
  /** How long ago the server last said that this is bound, in milliseconds. `Infinity` when that can't be told. */
  readonly ageMs: number;
  /** Whether the server should have been asked, and could not be; or another version is bound by now that can't be had. */
  readonly isStale: boolean;
  /** Why so. */
  readonly problem: ClientError | undefined;
}

export interface Plugins {
  /** @param name the newest when `undefined` */
  load(key: ListKey, name: string | undefined, options: ListOptions): Promise<LoadedPlugin>;
  /** The module, if it can be had without waiting for anything. */
  loadNow(key: ListKey, name: string | undefined, options: ListOptions): WebAssembly.Module | undefined;
}

export interface PluginParts {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly lists: Lists;
  readonly modules: Modules;
}

interface Chosen {
  readonly name: string;
  readonly binding: Binding;
}

export function createPlugins({ settings, events, lists, modules }: PluginParts): Plugins {
  const { clock, maxStaleMs } = settings;
  const loadedBefore = createLoadedBefore(settings.memory.maxLists);

  async function loadBound(key: ListKey, answer: ListAnswer, wanted: string | undefined, signal?: AbortSignal) {
    const { list, ageMs, isStale, problem } = answer;
    const checkedMs = clock.monotonicMs() - ageMs;
    const { name, binding } = choose(answer, wanted);
    const module = await modules.load(binding.contentAddress, signal);
    loadedBefore.remember(key, list, wanted, { name, binding, checkedMs });
    return { name, ...binding, module, ageMs, isStale, problem };
  }

  /**
   * The version that was loaded before, in place of one that can't be had: the same that would be served if the list could not be asked for.
   * What the list does not name any more is not served.
   */
  async function loadBefore(key: ListKey, { list }: ListAnswer, wanted: string | undefined, problem: ClientError) {
    const before = loadedBefore.find(key, wanted);
    if (before === undefined || list[before.name] === undefined) throw problem;
    const ageMs = clock.monotonicMs() - before.checkedMs;
    const module = ageMs > maxStaleMs ? undefined : await modules.loadKept(before.binding.contentAddress);
    if (module === undefined) throw problem;
    return { name: before.name, ...before.binding, module, ageMs, isStale: true, problem };
  }

  return {
    async load(key, name, options) {
      let answer = await lists.lookUp(key, options);
      for (let isLast = false; ; isLast = true) {
        try {
          return await loadBound(key, answer, name, options.signal);
        } catch (cause) {
          const error = cause as ClientError;
          if (mustFail(error, options.signal, settings)) throw error;
          // The content may be gone because the list is not the newest: then a newer one names another.
          if (error.status !== 404 || isLast) return loadBefore(key, answer, name, error);
          answer = await lists.lookUp(key, { ...options, maxAgeMs: 0 });
        }
      }
    },
    loadNow(key, name, { maxAgeMs, signal }) {
      const held = signal?.aborted ? undefined : lists.fresh(key, maxAgeMs);
      const chosen = name ?? held?.newest;
      const binding = chosen === undefined ? undefined : held?.list[chosen];
      if (held === undefined || chosen === undefined || binding === undefined) return undefined;
      const module = modules.kept(binding.contentAddress);
      if (module === undefined) return undefined;
      loadedBefore.remember(key, held.list, name, { name: chosen, binding, checkedMs: held.checkedMs });
      if (events.has('lookup')) {
        events.emit('lookup', { kind: 'list', source: 'memory', isStale: false });
        events.emit('lookup', { kind: 'module', source: 'memory', isStale: false });
      }
      return module;
    },
  };
}

function choose({ list, problem }: ListAnswer, name: string | undefined): Chosen {
  const chosen = name ?? newestName(list);
  const binding = chosen === undefined ? undefined : list[chosen];
  if (chosen !== undefined && binding !== undefined) return { name: chosen, binding };
  throw noPlugin(list, problem);
}

function noPlugin(list: BindingList, cause: ClientError | undefined): ClientError {
  const isEmpty = Object.keys(list).length === 0;
  const text = isEmpty ? 'No plugin is bound to the guest key' : 'No plugin of this name is bound to the guest key';
  return new ClientError('no_plugin', text, { cause });
}

/** Errors for which another version is no help. */
function mustFail({ code, status }: ClientError, signal: AbortSignal | undefined, { onRefusal }: Settings): boolean {
  const isRefused = status === 401 || status === 403;
  return (
    signal?.aborted === true ||
    ['closed', 'no_plugin', 'invalid_module'].includes(code) ||
    (isRefused && onRefusal === 'fail')
  );
}

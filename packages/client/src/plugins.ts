import { type Binding, type BindingList, newestName } from './bindings.ts';
import { ClientError } from './errors.ts';
import type { Emitter, ListKey } from './events.ts';
import type { ListAnswer, ListOptions, Lists } from './lists.ts';
import type { Modules } from './modules.ts';

/** A plugin that is ready to be instantiated, and how sure one can be that it is the one to use. */
export interface LoadedPlugin extends Binding {
  readonly name: string;
  readonly module: WebAssembly.Module;
  /** How long ago the server last said that this is bound, in milliseconds. `Infinity` when that can't be told. */
  readonly ageMs: number;
  /** Whether the server should have been asked, and could not be; or a newer version is bound that can't be had. */
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

export function createPlugins(events: Emitter, lists: Lists, modules: Modules): Plugins {
  async function load(key: ListKey, name: string | undefined, options: ListOptions): Promise<LoadedPlugin> {
    const answer = await lists.lookUp(key, options);
    const found = choose(answer, name);
    const module = await modules.load(found.binding.contentAddress, options.signal);
    const { ageMs, isStale, problem } = answer;
    return { name: found.name, ...found.binding, module, ageMs, isStale, problem };
  }

  return {
    load,
    loadNow(key, name, { maxAgeMs }) {
      const held = lists.fresh(key, maxAgeMs);
      const binding = held === undefined ? undefined : held.list[name ?? held.newest ?? ''];
      const module = binding === undefined ? undefined : modules.kept(binding.contentAddress);
      if (module !== undefined && events.has('lookup')) {
        events.emit('lookup', { kind: 'list', source: 'memory', isStale: false });
        events.emit('lookup', { kind: 'module', source: 'memory', isStale: false });
      }
      return module;
    },
  };
}

function choose({ list, problem }: ListAnswer, name: string | undefined): { name: string; binding: Binding } {
  const chosen = name ?? newestName(list);
  const binding = chosen === undefined ? undefined : list[chosen];
  if (chosen !== undefined && binding !== undefined) return { name: chosen, binding };
  throw noPlugin(list, problem);
}

function noPlugin(list: BindingList, cause: ClientError | undefined): ClientError {
  const others = Object.keys(list).length;
  const text =
    others === 0 ? 'No plugin is bound to the guest key' : 'No plugin of this name is bound to the guest key';
  return new ClientError('no_plugin', text, { cause });
}

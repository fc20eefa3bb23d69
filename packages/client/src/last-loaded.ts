import type { Provenance } from './attestation.ts';
import type { Binding, BindingList } from './bindings.ts';
import { cacheKeyOf } from './cached-list.ts';
import type { BindingsKey, PluginKey } from './events.ts';
import { createLru } from './lru.ts';

/** A version that was loaded, and when the server last confirmed its binding, by the monotonic clock. */
export interface LoadedVersion {
  readonly name: string;
  readonly binding: Binding;
  readonly provenance: Provenance | undefined;
  readonly checkedMs: number;
}

/** How many addresses a request reports. */
const maxReported = 16;

export type LastLoaded = ReturnType<typeof createLastLoaded>;

interface OfList {
  readonly byName: Map<string, LoadedVersion>;
  newest: { readonly name: string; readonly checkedMs: number } | undefined;
}

/** The last loaded version of each plugin. It is served if the bound version can't be fetched. */
export function createLastLoaded(maxLists: number) {
  const lists = createLru<OfList>(maxLists);
  return {
    remember(key: PluginKey, bindings: BindingList, loaded: LoadedVersion): void {
      let ofList = lists.get(cacheKeyOf(key));
      if (ofList === undefined) {
        ofList = { byName: new Map(), newest: undefined };
        lists.set(cacheKeyOf(key), ofList, 1);
      }
      const { name, checkedMs } = loaded;
      // A call may end after a later one that got a newer version.
      if (checkedMs >= (ofList.byName.get(name)?.checkedMs ?? Number.NEGATIVE_INFINITY)) {
        if (!ofList.byName.has(name)) removeUnbound(ofList, bindings);
        ofList.byName.set(name, loaded);
      }
      const isNewer = checkedMs >= (ofList.newest?.checkedMs ?? Number.NEGATIVE_INFINITY);
      if (key.name === undefined && isNewer) ofList.newest = loaded;
    },
    /**
     * The headers of a conditional request for a list. They report which versions are loaded, so that the server's usage shows what
     * hosts run.
     */
    conditionsFor(key: BindingsKey, etag: string | undefined): Record<string, string> {
      if (!etag) return {};
      const loaded = Array.from(lists.get(cacheKeyOf(key))?.byName.values() ?? []);
      const addresses = new Set(loaded.map(({ binding }) => binding.contentAddress));
      const report = addresses.size > 0 && { 'tenon-loaded': [...addresses].slice(-maxReported).join(', ') };
      return { 'if-none-match': etag, ...report };
    },
    /** Without a name in the key: the version that was last loaded without a name. */
    find(key: PluginKey): LoadedVersion | undefined {
      const ofList = lists.get(cacheKeyOf(key));
      const name = key.name ?? ofList?.newest?.name;
      return name === undefined ? undefined : ofList?.byName.get(name);
    },
  };
}

function removeUnbound({ byName }: OfList, bindings: BindingList): void {
  for (const name of byName.keys()) if (bindings[name] === undefined) byName.delete(name);
}

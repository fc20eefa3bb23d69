import type { Binding, BindingList } from './bindings.ts';
import type { ListKey } from './events.ts';
import { nameOf } from './kept-list.ts';
import { createLru } from './lru.ts';

/** A version that was loaded, and when the server last said that it is bound: by the monotonic clock. */
export interface Loaded {
  readonly name: string;
  readonly binding: Binding;
  readonly checkedMs: number;
}

/** What was loaded last of each plugin: what there is to fall back on when what is bound by now can't be had. */
export interface LoadedBefore {
  /** @param wanted the name that was asked for; `undefined` when it was for the newest */
  remember(key: ListKey, list: BindingList, wanted: string | undefined, loaded: Loaded): void;
  /** @param wanted as above: for the newest, what was loaded last as such */
  find(key: ListKey, wanted: string | undefined): Loaded | undefined;
}

interface OfList {
  readonly byName: Map<string, Loaded>;
  newest: { readonly name: string; readonly checkedMs: number } | undefined;
}

export function createLoadedBefore(maxLists: number): LoadedBefore {
  const lists = createLru<OfList>(maxLists);
  return {
    remember(key, list, wanted, loaded) {
      let ofList = lists.get(nameOf(key));
      if (ofList === undefined) {
        ofList = { byName: new Map(), newest: undefined };
        lists.set(nameOf(key), ofList, 1);
      }
      const { name, checkedMs } = loaded;
      // A call may end after one that began later and got a newer version.
      if (checkedMs >= (ofList.byName.get(name)?.checkedMs ?? Number.NEGATIVE_INFINITY)) {
        if (!ofList.byName.has(name)) forgetUnbound(ofList, list);
        ofList.byName.set(name, loaded);
      }
      const isNewer = checkedMs >= (ofList.newest?.checkedMs ?? Number.NEGATIVE_INFINITY);
      if (wanted === undefined && isNewer) ofList.newest = loaded;
    },
    find(key, wanted) {
      const ofList = lists.get(nameOf(key));
      const name = wanted ?? ofList?.newest?.name;
      return name === undefined ? undefined : ofList?.byName.get(name);
    },
  };
}

function forgetUnbound({ byName }: OfList, list: BindingList): void {
  for (const name of byName.keys()) if (list[name] === undefined) byName.delete(name);
}

/**
 * What decides what a plugin's claim to its name under one guest binds.
 *
 * @typeParam V what names a version: the service keeps ids, pages have numbers
 */
export interface BindingFacts<V> {
  readonly isBlocked: boolean;
  /** The version at which the host holds the binding. */
  readonly pinned: { readonly id: V; readonly isPublished: boolean } | null;
  /** The version that was rolled back to, when it is published. */
  readonly selected: V | null;
  /** The newest version that is published and was published under this guest. */
  readonly newest: V | null;
}

/**
 * What is to be bound: nothing while the plugin is blocked; else the version that is pinned, and nothing while that one can't
 * be bound, since a host that pins wants that version and no other; else the one that was rolled back to; else the newest.
 */
export function bindingTarget<V>({ isBlocked, pinned, selected, newest }: BindingFacts<V>): V | null {
  if (isBlocked) return null;
  if (pinned !== null) return pinned.isPublished ? pinned.id : null;
  return selected ?? newest;
}

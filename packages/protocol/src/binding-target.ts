/**
 * The facts that decide which version of a plugin is bound under one guest.
 *
 * @typeParam V identifies a version: the server uses ids, the console numbers
 */
export interface BindingFacts<V> {
  readonly isBlocked: boolean;
  /** The version to which the host has pinned the binding. */
  readonly pinned: { readonly id: V; readonly isPublished: boolean } | null;
  /** The version that was rolled back to, if it is published. */
  readonly selected: V | null;
  /** The newest version that is published and was published under this guest. */
  readonly newest: V | null;
}

/**
 * Returns the version to bind; `null` for none:
 *
 * 1. A blocked plugin has no bound version.
 * 2. A pinned binding has the pinned version, or none if that version is not published. The host wants no other version.
 * 3. Otherwise, it is the version that was rolled back to, or else the newest.
 */
export function bindingTarget<V>({ isBlocked, pinned, selected, newest }: BindingFacts<V>): V | null {
  if (isBlocked) return null;
  if (pinned !== null) return pinned.isPublished ? pinned.id : null;
  return selected ?? newest;
}

import type { VersionId } from '@tenon/protocol';
import type { BindingFacts } from '../db/store.ts';

/**
 * Returns the version to bind; `null` for none:
 *
 * 1. A blocked plugin has no bound version.
 * 2. A pinned binding has the pinned version, or none if that version is not published. The host wants no other version.
 * 3. Otherwise, it is the version that was rolled back to, or else the newest.
 */
export function bindingTarget({ isBlocked, pinned, selected, newest }: BindingFacts): VersionId | null {
  if (isBlocked) return null;
  if (pinned !== null) return pinned.isPublished ? pinned.id : null;
  return selected ?? newest;
}

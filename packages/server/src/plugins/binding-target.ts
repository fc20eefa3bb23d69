import type { VersionId } from '@tenon/protocol';
import type { BindingFacts } from '../db/store.ts';

/**
 * Returns the version to bind; `null` for none:
 *
 * 1. A blocked plugin has no bound version.
 * 2. A pinned binding has the pinned version, or none if that version is not published. The host wants no other version.
 * 3. Otherwise, it is the highest version whose roll-out reaches the guest. A rollback holds back the versions before it.
 * 4. Otherwise, it is the version that was rolled back to, or else the newest one for all guests.
 */
export function bindingTarget(facts: BindingFacts): VersionId | null {
  const { isBlocked, pinned, selected, selectedAtNumber, newest, candidates } = facts;
  if (isBlocked) return null;
  if (pinned !== null) return pinned.isPublished ? pinned.id : null;
  const after = selected === null ? 0 : (selectedAtNumber ?? 0);
  const reached = candidates.findLast(({ number, isReached }) => isReached && number > after);
  return reached?.id ?? selected ?? newest;
}

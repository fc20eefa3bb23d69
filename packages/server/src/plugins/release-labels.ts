import { isSemver, maxReasonLength, maxSemverLength } from '@tenon/protocol';
import type { PluginKey } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';

/** The publisher's texts about a version. */
export interface ReleaseLabels {
  readonly semver?: string | undefined;
  readonly note?: string | undefined;
}

/**
 * Requires a valid semantic version and a valid note.
 *
 * @throws DomainError `invalid_field`
 */
export function requireValidLabels({ semver, note }: ReleaseLabels): void {
  if (semver !== undefined && !isSemver(semver)) {
    throw invalidField(
      '/semver',
      `must be a semantic version such as 1.4.0 or 2.0.0-rc.1, of at most ${maxSemverLength} characters (https://semver.org)`,
    );
  }
  if (note !== undefined && (note.trim() === '' || note.length > maxReasonLength)) {
    throw invalidField('/note', `must not be blank, and must have at most ${maxReasonLength} characters`);
  }
}

/**
 * Requires a semantic version that no version of the plugin has used. A semantic version names the same content forever.
 *
 * @throws DomainError `conflict`
 */
export async function requireUnusedSemver(
  tx: Pick<Transaction, 'semverUse'>,
  key: PluginKey,
  semver: string,
  nowMs: number,
): Promise<void> {
  const use = await tx.semverUse(key, semver);
  if (use === undefined || (use.untilMs !== null && use.untilMs <= nowMs)) return;
  const user = use.number === null ? 'a version of the deleted plugin of this name' : `version ${use.number}`;
  throw new DomainError(
    'conflict',
    `"semver" must be unique among the versions of a plugin: ${user} already has ${semver}. Choose another one.`,
  );
}

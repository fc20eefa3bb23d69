import type { Version } from '@tenon/protocol';
import type { GuestNames } from '../plugin/effects.tsx';
import type { Roles } from '../plugin/version-actions.ts';

/** What shows the roll-out of a version. */
export interface RollOutProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  readonly version: Pick<Version, 'number'>;
  readonly roles: Roles;
  /** Whether the user is a member of the team, who may read plans and reports. */
  readonly isMember: boolean;
  readonly guests: GuestNames;
  readonly onChanged: () => void;
}

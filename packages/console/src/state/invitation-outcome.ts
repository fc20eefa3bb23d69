import { basePath } from '../base-path.ts';

/*
 * The outcome of the invitation that was opened in this tab. It outlives the code, so that the page shows the same after a
 * reload.
 */

export type InvitationOutcome =
  | {
      readonly kind: 'accepted' | 'declined';
      readonly app: { readonly id: string; readonly name: string };
      /** The role on the team; none for a guest. */
      readonly role?: string | undefined;
      /** Who answered. */
      readonly userId: string;
    }
  | { readonly kind: 'used' | 'expired' | 'revoked' | 'unknown' };

const key = `tenon.invitation:${basePath}`;
const kinds: readonly unknown[] = ['accepted', 'declined', 'used', 'expired', 'revoked', 'unknown'];

export function storeInvitationOutcome(outcome: InvitationOutcome): void {
  sessionStorage.setItem(key, JSON.stringify(outcome));
}

export function readInvitationOutcome(): InvitationOutcome | undefined {
  try {
    const value: InvitationOutcome | null = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    return value !== null && kinds.includes(value.kind) ? value : undefined;
  } catch {
    return undefined;
  }
}

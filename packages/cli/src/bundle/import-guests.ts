import { guest as guestSchema, invitationLink, invitationSettled } from '@tenon/protocol';
import { path } from '../api.ts';
import { CliError } from '../errors.ts';
import { showStep } from '../progress.ts';
import type { Session } from '../session.ts';

/** The guests of a bundle at this server. */
export interface Guests {
  /** The id of a guest that the user holds. Makes the guest, and the user its user, if needed. */
  readonly hold: (guestKey: string) => Promise<string>;
  /** Returns the id if the user holds the guest. */
  readonly held: (guestKey: string) => string | undefined;
  /** The keys that the user did not hold. */
  readonly missing: readonly string[];
}

export async function findGuests(
  { api, io, out }: Session,
  appId: string,
  guestKeys: readonly string[],
  userId: string,
): Promise<Guests> {
  const ids = new Map<string, string>();
  const missing: string[] = [];
  for (const [index, guestKey] of guestKeys.entries()) {
    const end = showStep(io, !out.isJson, `Looking up guest ${index + 1} of ${guestKeys.length}`);
    const query = new URLSearchParams({ guestKey });
    const found = await api.list(`${path`/api/v1/apps/${appId}/guests`}?${query}`, guestSchema).finally(end);
    const guest = found.find((one) => one.users.some((user) => user.userId === userId));
    if (guest === undefined) missing.push(guestKey);
    else ids.set(guestKey, guest.id);
  }
  return {
    missing,
    held: (guestKey) => ids.get(guestKey),
    async hold(guestKey) {
      const id = ids.get(guestKey);
      if (id !== undefined) return id;
      const { link } = await api.send('POST', path`/api/v1/apps/${appId}/guests`, { guestKey }, invitationLink);
      const code = new URL(link).searchParams.get('code');
      const { guestId } = await api.send('POST', '/api/v1/invitations/accept', { code }, invitationSettled);
      if (guestId === undefined) throw new CliError('unexpected_response', 'The accepted invitation names no guest.');
      ids.set(guestKey, guestId);
      return guestId;
    },
  };
}

import type { Guest, Invitation } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';

/** A guest with all of its invitations, the newest first. */
export interface InvitedGuest extends Guest {
  readonly invitations: readonly Invitation[];
}

/** An application's guests, by guest key. */
export async function fetchGuests(api: ApiClient, appId: string, signal: AbortSignal): Promise<InvitedGuest[]> {
  const [guests, invitations] = await Promise.all([
    api.list<Guest>(`/api/v1/apps/${appId}/guests`, { signal }),
    api.list<Invitation>(`/api/v1/apps/${appId}/invitations`, { signal }),
  ]);
  const byGuest = Map.groupBy(invitations, ({ guestId }) => guestId);
  return guests
    .map((guest) => ({ ...guest, invitations: newestFirst(byGuest.get(guest.id) ?? []) }))
    .sort((a, b) => compareText(a.guestKey, b.guestKey));
}

/** Ids sort by the time they were made: letter by letter, not as people sort. */
export function newestFirst<Made extends { readonly id: string }>(made: readonly Made[]): Made[] {
  return made.toSorted((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}

const collator = new Intl.Collator('en', { numeric: true });

/** As people sort: `customer-2` before `customer-10`. */
export function compareText(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : Number(a > b));
}

/** @throws ApiError `not_found` */
export async function fetchGuest(
  api: ApiClient,
  appId: string,
  guestId: string,
  signal: AbortSignal,
): Promise<InvitedGuest> {
  const [guest, invitations] = await Promise.all([
    api.get<Guest>(`/api/v1/apps/${appId}/guests/${encodeURIComponent(guestId)}`, { signal }),
    api.list<Invitation>(`/api/v1/apps/${appId}/invitations`, { signal }),
  ]);
  return { ...guest, invitations: newestFirst(invitations.filter((invitation) => invitation.guestId === guest.id)) };
}

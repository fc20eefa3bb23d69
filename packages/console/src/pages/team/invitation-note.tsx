import type { Invitation } from '@tenon/protocol';

/** The name and e-mail address that the team noted with an invitation. */
export function InvitationNote({
  invitation: { name, email },
}: {
  readonly invitation: Pick<Invitation, 'name' | 'email'>;
}) {
  if (name === null && email === null) return <span class="soft">–</span>;
  return (
    <span>
      {name}
      {email === null ? null : <span class={name === null ? undefined : 'note-address'}>{email}</span>}
    </span>
  );
}

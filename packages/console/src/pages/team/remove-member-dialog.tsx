import type { Guest, Member } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CheckboxField } from '../../components/field.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';

/** Asks before a member is removed, or leaves, and whether the guests that the member holds are taken away too. */
export function RemoveMemberDialog(props: {
  readonly appId: string;
  readonly member: Member;
  readonly isSelf: boolean;
  readonly onConfirm: (withGuests: boolean) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { appId, member, isSelf, onConfirm, onClose } = props;
  const [withGuests, setWithGuests] = useState(false);
  const isGuest = member.guestIds.length > 0;
  return (
    <ConfirmDialog
      title={isSelf ? 'Leave the team?' : `Remove ${member.name} from the team?`}
      action={isSelf ? 'Leave the team' : 'Remove member'}
      onClose={onClose}
      onConfirm={() => onConfirm(withGuests)}
    >
      <p>
        {isSelf ? 'Your' : 'Their'} access tokens lose access to this application. Hosts that fetch plugins with one of
        them get none. Pending invitations that {isSelf ? 'you' : member.name} made are revoked.
      </p>
      {isGuest && isSelf ? <p>You stay a guest of the application.</p> : null}
      {isGuest && !isSelf ? (
        <>
          <p>
            {member.name} is a guest of the application too, as <GuestKeys appId={appId} member={member} />.
          </p>
          <CheckboxField
            label="End this guest access too"
            name="withGuests"
            isChecked={withGuests}
            onChange={setWithGuests}
            hint={`Plugins that ${member.name} published under these guests are unbound at once.`}
          />
        </>
      ) : null}
    </ConfirmDialog>
  );
}

const shownGuests = 5;

function GuestKeys(props: { readonly appId: string; readonly member: Pick<Member, 'guestIds' | 'hasMoreGuests'> }) {
  const { appId } = props;
  const { guestIds, hasMoreGuests } = props.member;
  const api = useApi();
  const shown = guestIds.slice(0, shownGuests);
  const guests = useData(
    (signal) => Promise.all(shown.map((id) => api.get<Guest>(`/api/v1/apps/${appId}/guests/${id}`, { signal }))),
    [appId, shown.join()],
  );
  const names = guests.status === 'ready' ? guests.data.map(({ guestKey }) => guestKey) : shown;
  const more = guestIds.length - shown.length;
  return (
    <>
      {names.map((name, at) => (
        <>
          {at === 0 ? '' : ', '}
          <code key={name}>{name}</code>
        </>
      ))}
      {more > 0 ? ` and ${hasMoreGuests ? 'more than ' : ''}${more} more` : ''}
    </>
  );
}

import { DeleteDialog } from '../../components/delete-dialog.tsx';

/** Revokes an invitation to a guest or to the team. */
export function RevokeInvitationDialog(props: {
  readonly appId: string;
  readonly invitationId: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  return (
    <DeleteDialog
      title="Revoke the invitation?"
      action="Revoke invitation"
      apiPath={`/api/v1/apps/${props.appId}/invitations/${props.invitationId}`}
      done="Invitation revoked."
      onDone={props.onDone}
      onClose={props.onClose}
    >
      <p>Its link stops working at once. You can invite again at any time.</p>
    </DeleteDialog>
  );
}

import type { App, Guest, InvitationLink } from '@tenon/protocol';
import { guestKeyFault } from '@tenon/protocol/names';
import { useState } from 'preact/hooks';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi, useToast } from '../../state/services.ts';
import { useLookup } from '../../state/use-lookup.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { GuestTextFields, noGuestTexts } from './guest-texts.tsx';
import { InviteeFields, useInvitee } from './invitee-fields.tsx';

/** Creates an invitation, and shows its link once. */
export function InviteDialog(props: {
  readonly app: App;
  /** The key of an existing guest, for a further invitation to it. */
  readonly guestKey?: string | undefined;
  /** Called after creation. The list of invitations is out of date then. */
  readonly onInvited: () => void;
  readonly onClose: () => void;
}) {
  const { app, onInvited, onClose } = props;
  const api = useApi();
  const toast = useToast();
  const [guestKey, setGuestKey] = useState(props.guestKey ?? '');
  const invitee = useInvitee();
  const [texts, setTexts] = useState(noGuestTexts);
  const [link, setLink] = useState<string>();
  const fault = guestKey === '' ? undefined : guestKeyFault(guestKey);
  const mayBeTaken = props.guestKey === undefined && guestKey !== '' && fault === undefined;
  const present = useLookup<Guest>(`/api/v1/apps/${app.id}/guests`, mayBeTaken ? { guestKey } : undefined);
  const form = useSubmit(async () => {
    const { label, note } = texts;
    const body = {
      guestKey,
      ...invitee.body,
      label: label || undefined,
      note: note || undefined,
    };
    const invited = await api.post<InvitationLink>(`/api/v1/apps/${app.id}/guests`, body);
    onInvited();
    if (!invitee.isMailed) return setLink(invited.link);
    toast(`The invitation to ${invitee.email.trim()} is on its way.`);
    onClose();
  }, ['guestKey', 'label', 'note', 'name', 'email']);

  if (link !== undefined) {
    return (
      <SecretDialog title="Invitation link" secret={link} what="the link" onClose={onClose}>
        <p>
          Send it to the person who will publish for <code>{guestKey}</code>. It works once, for 7 days by default. They
          see which application invites them, and never the guest key.
        </p>
      </SecretDialog>
    );
  }
  const isFurther = props.guestKey !== undefined;
  return (
    <FormDialog
      title={isFurther ? 'Invite to this guest again' : 'Invite a guest'}
      action={invitee.isMailed ? 'Send invitation' : 'Create link'}
      isDisabled={fault !== undefined}
      form={form}
      onClose={onClose}
    >
      {isFurther ? (
        <p>
          A further person can hold the guest <code>{guestKey}</code>, or the same one whose invitation has expired.
        </p>
      ) : (
        <TextField
          label="Guest key"
          name="guestKey"
          value={guestKey}
          onInput={setGuestKey}
          isCode
          hasFocus
          placeholder="customers/globex"
          error={fault === undefined ? form.fieldError('guestKey') : `A guest key ${fault}.`}
          hint={<KeyHint guestKey={guestKey} isTaken={present !== undefined} />}
        />
      )}
      {isFurther ? null : <GuestTextFields texts={texts} form={form} onChange={setTexts} />}
      <InviteeFields invitee={invitee} form={form} hasFocus={isFurther} />
    </FormDialog>
  );
}

function KeyHint({ guestKey, isTaken }: { readonly guestKey: string; readonly isTaken: boolean }) {
  if (isTaken)
    return (
      <>
        A guest has this key already. This creates another invitation for that guest. A label or note that you enter
        replaces the guest’s.
      </>
    );
  // What URL parsers change when a key stands in a path as it is, as older clients send it.
  if (/[%?#\\]/.test(guestKey)) return <>Your application must percent-encode this key when it fetches plugins.</>;
  return <>Your application’s name for this customer. Guests never see it, and it can’t be changed later.</>;
}

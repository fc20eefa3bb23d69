import { useState } from 'preact/hooks';
import { CheckboxField, TextField } from '../../components/field.tsx';
import { useSendsMail } from '../../state/services.ts';
import type { Submit } from '../../state/use-submit.ts';

interface InviteeParts {
  readonly name: string;
  readonly email: string;
  /** Whether the server mails the link. */
  readonly isMailed: boolean;
}

/** Whom an invitation is for. The name, and the address if nothing is mailed, are optional notes. */
export interface Invitee extends InviteeParts {
  /** Whether the server can mail the link. */
  readonly canBeMailed: boolean;
  readonly change: (part: Partial<InviteeParts>) => void;
  /** The parts that the user has filled in, for the request. */
  readonly body: { readonly name?: string; readonly email?: string; readonly deliveryMethod: 'link' | 'email' };
}

export function useInvitee(): Invitee {
  const [invitee, setInvitee] = useState<InviteeParts>({ name: '', email: '', isMailed: false });
  const canBeMailed = useSendsMail();
  const { name, email, isMailed } = invitee;
  return {
    ...invitee,
    canBeMailed,
    change: (part) => setInvitee((now) => ({ ...now, ...part })),
    body: {
      deliveryMethod: isMailed ? 'email' : 'link',
      ...(name.trim() === '' ? {} : { name }),
      ...(email.trim() === '' ? {} : { email }),
    },
  };
}

export function InviteeFields(props: {
  readonly invitee: Invitee;
  readonly form: Submit;
  readonly hasFocus?: boolean;
}) {
  const { invitee, form } = props;
  return (
    <>
      <TextField
        label="Name"
        name="name"
        value={invitee.name}
        onInput={(name) => invitee.change({ name })}
        isRequired={false}
        maxLength={200}
        hasFocus={props.hasFocus}
        error={form.fieldError('name')}
        hint="Only your team sees the name and the address."
      />
      <TextField
        label="E-mail address"
        name="email"
        value={invitee.email}
        onInput={(email) => invitee.change({ email })}
        isRequired={invitee.isMailed}
        maxLength={320}
        error={form.fieldError('email')}
        hint={invitee.isMailed ? undefined : 'No e-mail is sent. You get a link to pass on.'}
      />
      {invitee.canBeMailed ? (
        <CheckboxField
          label="Send the link by e-mail"
          name="isMailed"
          isChecked={invitee.isMailed}
          onChange={(isMailed) => invitee.change({ isMailed })}
        />
      ) : null}
    </>
  );
}

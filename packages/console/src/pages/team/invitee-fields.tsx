import { useState } from 'preact/hooks';
import { TextField } from '../../components/field.tsx';
import type { Submit } from '../../state/use-submit.ts';

/** A note about whom an invitation is for. Both parts are optional. */
export interface Invitee {
  readonly name: string;
  readonly email: string;
  readonly change: (part: { readonly name?: string; readonly email?: string }) => void;
  /** The parts that the user has filled in, for the request. */
  readonly body: { readonly name?: string; readonly email?: string };
}

export function useInvitee(): Invitee {
  const [{ name, email }, setInvitee] = useState({ name: '', email: '' });
  return {
    name,
    email,
    change: (part) => setInvitee((now) => ({ ...now, ...part })),
    body: { ...(name.trim() === '' ? {} : { name }), ...(email.trim() === '' ? {} : { email }) },
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
        isRequired={false}
        maxLength={320}
        error={form.fieldError('email')}
        hint="No e-mail is sent. You get a link to pass on."
      />
    </>
  );
}

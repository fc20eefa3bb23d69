import { useState } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import type { ConfirmRequest } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { useSubmit } from '../state/use-submit.ts';
import { CurrentPasswordField } from './account-fields.tsx';
import { FormDialog } from './form-dialog.tsx';
import { ProviderParts } from './provider-parts.tsx';

/** Asks for the passkey or the password when the server wants it again before it goes on; one for the whole console. */
export function PasswordDialog() {
  const request = useStore(useServices().session.confirmRequest);
  if (request === undefined) return null;
  return request.hasPasskey ? <PasskeyForm request={request} /> : <PasswordForm request={request} />;
}

function PasskeyForm({ request }: { readonly request: ConfirmRequest }) {
  const form = useSubmit(() => request.confirm());
  return (
    <FormDialog title="Confirm with your passkey" action="Use your passkey" form={form} onClose={request.cancel}>
      <p>This action requires your passkey.</p>
    </FormDialog>
  );
}

function PasswordForm({ request }: { readonly request: ConfirmRequest }) {
  const [password, setPassword] = useState('');
  const form = useSubmit(() => request.confirm(password));
  return (
    <FormDialog title="Confirm your password" action="Continue" form={form} onClose={request.cancel}>
      <p>This action requires your password.</p>
      <CurrentPasswordField value={password} onInput={setPassword} hasFocus />
      <ProviderParts>
        {({ ConfirmWithProvider }) => <ConfirmWithProvider onConfirmed={request.confirmed} />}
      </ProviderParts>
    </FormDialog>
  );
}

import { useState } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import type { PasswordRequest } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { useSubmit } from '../state/use-submit.ts';
import { CurrentPasswordField } from './account-fields.tsx';
import { FormDialog } from './form-dialog.tsx';

/** Asks for the password when the server wants it again before it goes on; one for the whole console. */
export function PasswordDialog() {
  const request = useStore(useServices().session.passwordRequest);
  return request === undefined ? null : <PasswordForm request={request} />;
}

function PasswordForm({ request }: { readonly request: PasswordRequest }) {
  const [password, setPassword] = useState('');
  const form = useSubmit(() => request.confirm(password));
  return (
    <FormDialog title="Confirm your password" action="Continue" form={form} onClose={request.cancel}>
      <p>This action requires your password.</p>
      <CurrentPasswordField value={password} onInput={setPassword} hasFocus />
    </FormDialog>
  );
}

import { useState } from 'preact/hooks';
import { useSession } from '../state/services.ts';
import type { ConfirmRequest } from '../state/session.ts';
import { useSubmit } from '../state/use-submit.ts';
import { CurrentPasswordField } from './account-fields.tsx';
import { Button } from './button.tsx';
import { ConfirmWithProvider } from './confirm-with-provider.tsx';
import { Dialog } from './dialog.tsx';
import { FormDialog } from './form-dialog.tsx';

/** The dialog of a request to confirm the session. */
export function ConfirmForm({ request }: { readonly request: ConfirmRequest }) {
  const { view } = useSession();
  if (request.hasPasskey) return <PasskeyForm request={request} />;
  const hasPassword = view.status === 'ready' && view.account?.hasPassword !== false;
  return hasPassword ? <PasswordForm request={request} /> : <ProviderForm request={request} />;
}

function ProviderForm({ request }: { readonly request: ConfirmRequest }) {
  return (
    <Dialog title="Confirm that it is you" onClose={request.cancel}>
      <div class="stack">
        <p>This action requires that you sign in again at your provider.</p>
        <ConfirmWithProvider onConfirmed={request.confirmed} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={request.cancel}>
            Cancel
          </Button>
        </div>
      </div>
    </Dialog>
  );
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
  const { view } = useSession();
  const hasProviders = view.status === 'ready' && view.providers.length > 0;
  const [password, setPassword] = useState('');
  const form = useSubmit(() => request.confirm(password));
  return (
    <FormDialog title="Confirm your password" action="Continue" form={form} onClose={request.cancel}>
      <p>This action requires your password.</p>
      <CurrentPasswordField value={password} onInput={setPassword} hasFocus />
      {hasProviders ? <ConfirmWithProvider onConfirmed={request.confirmed} /> : null}
    </FormDialog>
  );
}

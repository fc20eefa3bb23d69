import { useState } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import type { PasswordRequest } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorView } from './error-view.tsx';
import { PasswordField } from './field.tsx';

/** Asks for the password when the server wants it again before it goes on; one for the whole console. */
export function PasswordDialog() {
  const request = useStore(useServices().session.passwordRequest);
  return request === undefined ? null : <PasswordForm request={request} />;
}

function PasswordForm({ request }: { readonly request: PasswordRequest }) {
  const [password, setPassword] = useState('');
  const { submit, isBusy, error } = useSubmit(() => request.confirm(password));
  return (
    <Dialog title="Confirm your password" onClose={request.cancel}>
      <form onSubmit={submit}>
        <p>This action requires your password.</p>
        <PasswordField
          label="Password"
          name="password"
          value={password}
          onInput={setPassword}
          autoComplete="current-password"
          hasFocus
        />
        <ErrorView error={error} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={request.cancel}>
            Cancel
          </Button>
          <Button type="submit" isBusy={isBusy}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

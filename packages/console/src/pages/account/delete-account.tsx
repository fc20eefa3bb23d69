import type { PasskeyList } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { CurrentPasswordField } from '../../components/account-fields.tsx';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { useAccount, useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useSubmit } from '../../state/use-submit.ts';

export function DeleteAccountSection() {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section
      isBeside
      title="Delete account"
      intro="Permanently deletes your account, plugins, tokens, keys and memberships."
    >
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete my account…
      </Button>
      {isAsking ? <DeleteAccountDialog onClose={() => setAsking(false)} /> : null}
    </Section>
  );
}

function DeleteAccountDialog({ onClose }: { readonly onClose: () => void }) {
  const { session, toasts } = useServices();
  const { email, name, hasPassword } = useAccount();
  const [typed, setTyped] = useState('');
  const [password, setPassword] = useState('');
  const passkeys = useData(() => session.confirmed((calls) => calls.get<PasskeyList>('/session/passkeys')), []);
  // The API client asks for the passkey of an account that has one, and for the provider of an account without a password.
  const hasPasskey = passkeys.status === 'ready' && passkeys.data.objects.length > 0;
  const needsPassword = hasPassword && !hasPasskey;
  const wanted = email ?? name;
  const form = useSubmit(async () => {
    await session.api.post<void>('/api/v1/me/deletion', needsPassword ? { password } : {});
    session.setAccount(null);
    toasts.show('Account deleted.');
  }, ['password']);
  return (
    <FormDialog
      title="Delete your account?"
      action="Delete my account"
      isDangerous
      isDisabled={typed.trim() !== wanted || (needsPassword && password === '')}
      form={form}
      onClose={onClose}
    >
      <p>
        Hosts stop receiving your plugins. If you are the only owner of an application, first make someone else an owner
        or delete it.
      </p>
      <TextField
        label={`Type “${wanted}” to confirm`}
        name="confirmation"
        value={typed}
        onInput={setTyped}
        isCode
        hasFocus
      />
      {needsPassword ? (
        <CurrentPasswordField value={password} onInput={setPassword} error={form.fieldError('password')} />
      ) : null}
    </FormDialog>
  );
}

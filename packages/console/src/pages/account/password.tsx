import { useState } from 'preact/hooks';
import { NewPasswordField } from '../../components/account-fields.tsx';
import { CheckboxField, PasswordField } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { SubmitRow } from '../../components/submit-row.tsx';
import { useAccount, useServices } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

export function PasswordSection() {
  const { session, toasts } = useServices();
  const { email } = useAccount();
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [revokeTokens, setRevokeTokens] = useState(false);
  const form = useSubmit(async () => {
    await session.api.put<void>('/api/v1/me/password', { currentPassword, newPassword, revokeTokens });
    setCurrentPassword('');
    setNewPassword('');
    setRevokeTokens(false);
    toasts.show('Password changed. Your other browsers are signed out.');
  }, ['currentPassword', 'newPassword']);
  return (
    <Section isBeside title="Password" intro="Changing your password signs you out everywhere else.">
      <form onSubmit={form.submit} class="form-narrow">
        <input type="hidden" name="email" autocomplete="username" value={email ?? ''} />
        <PasswordField
          label="Current password"
          name="currentPassword"
          value={currentPassword}
          onInput={setCurrentPassword}
          autoComplete="current-password"
          error={form.fieldError('currentPassword')}
        />
        <NewPasswordField
          label="New password"
          name="newPassword"
          value={newPassword}
          onInput={setNewPassword}
          error={form.fieldError('newPassword')}
        />
        <CheckboxField
          label="Revoke all my access tokens and API keys too"
          name="revokeTokens"
          isChecked={revokeTokens}
          onChange={setRevokeTokens}
          hint="Use this if they may have leaked. Programs that use them stop working."
        />
        <SubmitRow form={form} action="Change password" kind="quiet" />
      </form>
    </Section>
  );
}

import { useState } from 'preact/hooks';
import { EmailField } from '../components/account-fields.tsx';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';

/** Asks for a mail with a link that resets the password. It replaces the sign-in form. */
export function ForgottenPassword(props: { readonly email: string; readonly onBack: () => void }) {
  const { session } = useSession();
  const [email, setEmail] = useState(props.email);
  const [isSent, setSent] = useState(false);
  const form = useSubmit(async () => {
    await session.calls.post('/session/password-link', { email });
    setSent(true);
  }, ['email']);
  return (
    <Page title={isSent ? 'Check your mail' : 'Reset your password'}>
      {isSent ? (
        <p role="status">
          If <strong>{email.trim()}</strong> has an account here, a mail with a link is on its way. The link works for
          an hour.
        </p>
      ) : (
        <form onSubmit={form.submit} class="stack">
          <EmailField
            value={email}
            onInput={setEmail}
            error={form.fieldError('email')}
            hint="You get a mail with a link that sets a new password."
            hasFocus
          />
          <SubmitRow form={form} action="Send the link" />
        </form>
      )}
      <p>
        <Button kind="quiet" onClick={props.onBack}>
          Back to sign-in
        </Button>
      </p>
    </Page>
  );
}

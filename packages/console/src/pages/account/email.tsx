import type { Account } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { useAccount, useServices, useSession } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

/** The address, and the dialog that changes it. */
export function EmailSection() {
  const { email } = useAccount();
  const [isAsking, setAsking] = useState(false);
  return (
    <Section isBeside title="E-mail address">
      <div class="stack">
        {email === null ? <p>Your account has no e-mail address.</p> : <p>{email}</p>}
        <div>
          <Button kind="quiet" onClick={() => setAsking(true)}>
            Change e-mail address…
          </Button>
        </div>
      </div>
      {isAsking ? <EmailDialog onClose={() => setAsking(false)} /> : null}
    </Section>
  );
}

function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { session, toasts } = useServices();
  const { view } = useSession();
  const [email, setEmail] = useState('');
  const sendsMail = view.status === 'ready' && view.sendsMail;
  const form = useSubmit(async () => {
    const account = await session.api.put<Account>('/api/v1/me/email', { email });
    session.setAccount(account);
    const isPending = sendsMail && account.email !== email.trim().toLowerCase();
    toasts.show(isPending ? `Open the link in the mail to ${email.trim()}.` : 'E-mail address changed.');
    onClose();
  }, ['email']);
  return (
    <FormDialog
      title="Change your e-mail address"
      action={sendsMail ? 'Send the link' : 'Change address'}
      isDisabled={email.trim() === ''}
      form={form}
      onClose={onClose}
    >
      <p>
        {sendsMail
          ? 'The new address gets a link, and your present address a notice. The address changes when you use the link.'
          : 'This server sends no mail: the address changes at once. Check that you typed it right, because you sign in with it.'}
      </p>
      <TextField
        label="New e-mail address"
        name="email"
        type="email"
        autoComplete="email"
        value={email}
        onInput={setEmail}
        error={form.fieldError('email')}
        hasFocus
      />
    </FormDialog>
  );
}

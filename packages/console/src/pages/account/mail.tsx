import type { Account, Notices } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { CheckboxField } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { useAccount, useServices, useSession } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

const labels: Readonly<Record<keyof Notices, string>> = {
  approvals: 'Versions wait for approval in your applications',
  withdrawals: 'A team blocked or yanked your plugin',
  signIns: 'A sign-in in a new browser',
  newNetworks: 'A token is used from a new network',
  expiries: 'A token expires soon',
  quotas: 'A quota is nearly used up',
  webhooks: 'A webhook of your application was disabled',
  rollOuts: 'A roll-out in your application was halted',
};

/** Whether the address is verified, and which notices the server mails. */
export function MailSection() {
  const { session, toasts } = useServices();
  const { view } = useSession();
  const { email, isEmailVerified } = useAccount();
  const verification = useSubmit(async () => {
    await session.api.post('/api/v1/me/verification', {});
    toasts.show(`A mail to ${email} is on its way.`);
  });
  if (email === null || view.status !== 'ready' || !view.sendsMail) return null;
  const names = Object.keys(labels) as (keyof Notices)[];
  return (
    <Section isBeside title="Mail" intro={isEmailVerified ? `Mails to ${email}.` : undefined}>
      {isEmailVerified ? (
        <div class="stack">
          {names.map((name) => (
            <NoticeField key={name} name={name} />
          ))}
        </div>
      ) : (
        <div class="stack">
          <p>
            <strong>{email}</strong> is not verified. Open the link in the mail that you got, and the server can send
            you notices.
          </p>
          <div>
            <Button kind="quiet" isBusy={verification.isBusy} onClick={verification.submit}>
              Send the link again
            </Button>
          </div>
        </div>
      )}
      {verification.error === undefined ? null : <ErrorView error={verification.error} />}
    </Section>
  );
}

function NoticeField({ name }: { readonly name: keyof Notices }) {
  const { session } = useServices();
  const isOn = useAccount().notices[name];
  const [isChecked, setChecked] = useState(isOn); // at once; the stored value follows
  const change = useSubmit(async () => {
    setChecked(!isChecked);
    try {
      session.setAccount(await session.api.put<Account>('/api/v1/me', { notices: { [name]: !isChecked } }));
    } catch (error) {
      setChecked(isChecked);
      throw error;
    }
  });
  return (
    <>
      <CheckboxField label={labels[name]} name={name} isChecked={isChecked} onChange={() => change.submit()} />
      {change.error === undefined ? null : <ErrorView error={change.error} />}
    </>
  );
}

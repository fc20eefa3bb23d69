import { LinkButton } from '../components/button.tsx';
import { CopyText } from '../components/copy-button.tsx';
import { Page, Section } from '../components/page.tsx';
import { QuotasSection } from '../components/quotas/quotas-section.tsx';
import { useAccount, useSession } from '../state/services.ts';
import { DeleteAccountSection } from './account/delete-account.tsx';
import { EmailSection } from './account/email.tsx';
import { LinkedSignInsSection } from './account/linked-sign-ins.tsx';
import { MailSection } from './account/mail.tsx';
import { NameSection } from './account/name.tsx';
import { PasskeysSection } from './account/passkeys.tsx';
import { PasswordSection } from './account/password.tsx';

/** One's own account. */
export function AccountPage() {
  const { id, email, hasPassword } = useAccount();
  const { view } = useSession();
  const hasPasswords = hasPassword && (view.status !== 'ready' || view.passwordSignIn);
  return (
    <Page title="Your account" intro={email === null ? undefined : `You sign in as ${email}.`}>
      <NameSection />
      <EmailSection />
      <MailSection />
      <Section isBeside title="User id" intro="Identifies you in the API and in audit trails.">
        <CopyText text={id} what="your user id" />
      </Section>
      <Section isBeside title="Access" intro="Browsers and programs that act in your name.">
        <LinkButton kind="quiet" to="/account/tokens">
          Manage sessions, tokens and API keys{' '}
        </LinkButton>
      </Section>
      <Section isBeside title="Activity" intro="Sign-ins, tokens and everything else you did.">
        <LinkButton kind="quiet" to="/account/activity">
          View activity
        </LinkButton>
      </Section>
      <PasskeysSection />
      <LinkedSignInsSection />
      {hasPasswords ? <PasswordSection /> : null}
      <QuotasSection path="/api/v1/me/quotas" intro="What your account may use. At 80 and 95 % you get a mail." />
      <DeleteAccountSection />
    </Page>
  );
}

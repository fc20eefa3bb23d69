import { LinkButton } from '../components/button.tsx';
import { CopyText } from '../components/copy-button.tsx';
import { Page, Section } from '../components/page.tsx';
import { useAccount } from '../state/services.ts';
import { DeleteAccountSection } from './account/delete-account.tsx';
import { NameSection } from './account/name.tsx';
import { PasswordSection } from './account/password.tsx';
import { SessionsSection } from './account/sessions.tsx';

/** One's own account. */
export function AccountPage() {
  const { id, email } = useAccount();
  return (
    <Page title="Your account" intro={email === null ? undefined : `You sign in as ${email}.`}>
      <NameSection />
      <Section isBeside title="User id" intro="An owner needs it to take you into the team of an application.">
        <CopyText text={id} what="your user id" />
      </Section>
      <Section isBeside title="Programs" intro="What they show the server in place of you.">
        <LinkButton kind="quiet" to="/account/tokens">
          Tokens and API keys
        </LinkButton>
      </Section>
      <Section isBeside title="Activity" intro="Sign-ins, tokens, and all else that you did.">
        <LinkButton kind="quiet" to="/account/activity">
          Look at it
        </LinkButton>
      </Section>
      <PasswordSection />
      <SessionsSection />
      <DeleteAccountSection />
    </Page>
  );
}

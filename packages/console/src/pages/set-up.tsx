import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { clearLinkCode } from '../state/link-codes.ts';
import { NewAccountForm } from './new-account-form.tsx';
import { OneTimeLinkPage } from './one-time-link.tsx';

/** The page of an operator's link that creates an account. */
export function SetUpPage() {
  const { route } = useLocation();
  return (
    <OneTimeLinkPage
      kind="set-up"
      title="Set up your account"
      intro="With this link you create an account on this server."
    >
      {(code) => (
        <NewAccountForm
          codes={{ linkCode: code }}
          onDone={() => {
            clearLinkCode('set-up');
            route(href('/'), true);
          }}
        />
      )}
    </OneTimeLinkPage>
  );
}

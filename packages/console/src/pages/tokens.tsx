import { Page } from '../components/page.tsx';
import { AccessTokensSection } from './tokens/access-tokens.tsx';
import { ApiKeysSection } from './tokens/api-keys.tsx';

/** Credentials that programs use in the user's name. */
export function TokensPage() {
  return (
    <Page
      title="Tokens and API keys"
      intro="Programs use these credentials in your name. Keep them secret, like passwords."
      crumbs={[{ label: 'Your account', to: '/account' }]}
    >
      <AccessTokensSection />
      <ApiKeysSection />
    </Page>
  );
}

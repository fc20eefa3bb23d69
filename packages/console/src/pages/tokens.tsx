import type { ApiKeyInfo, PendingLogin, Session, TokenInfo, TrustRule } from '@tenon/protocol';
import { Page } from '../components/page.tsx';
import { useList } from '../state/use-list.ts';
import { SessionsSection } from './account/sessions.tsx';
import { AccessTokensSection } from './tokens/access-tokens.tsx';
import { ApiKeysSection } from './tokens/api-keys.tsx';
import { PendingLoginsSection } from './tokens/pending-logins.tsx';
import { RevokeAllButton } from './tokens/revoke-all.tsx';
import { OwnTrustRules } from './tokens/trust-rules.tsx';

/** Everything that acts in the user's name: browsers, programs, and logins that are not complete. */
export function TokensPage() {
  const sessions = useList<Session>('/api/v1/sessions', { prefix: 'sessions-' });
  const tokens = useList<TokenInfo>('/api/v1/tokens', { prefix: 'tokens-', sort: '-createdAt' });
  const keys = useList<ApiKeyInfo>('/api/v1/api-keys', { prefix: 'keys-', sort: '-createdAt' });
  const rules = useList<TrustRule>('/api/v1/trust-rules', { prefix: 'rules-' });
  const logins = useList<PendingLogin>('/api/v1/logins', { prefix: 'logins-' });
  const reload = (): void => {
    for (const { page } of [sessions, tokens, keys, rules, logins]) page.reload();
  };
  return (
    <Page
      title="Sessions, tokens and API keys"
      windowTitle="Sessions, tokens and API keys · Your account"
      intro="Browsers and programs that act in your name. End what you don’t recognise, and change your password."
      crumbs={[{ label: 'Your account', to: '/account' }]}
      actions={<RevokeAllButton onDone={reload} />}
    >
      <PendingLoginsSection logins={logins} />
      <SessionsSection sessions={sessions} />
      <AccessTokensSection tokens={tokens} />
      <ApiKeysSection keys={keys} />
      <OwnTrustRules rules={rules} />
    </Page>
  );
}

import type { TrustRule } from '@tenon/protocol';
import type { PagedList } from '../../state/use-list.ts';
import { TrustRuleSection } from './trust-rule-section.tsx';

/** The rules by which CI jobs publish in the user's name. */
export function OwnTrustRules({ rules }: { readonly rules: PagedList<TrustRule> }) {
  return (
    <TrustRuleSection
      rules={rules}
      intro="CI jobs that these rules allow publish plugins of yours, without a stored token."
      addLabel="New rule"
      target={({ plugin, guestId }) =>
        plugin === null ? (
          <>
            all plugins under <code class="small">{guestId}</code>
          </>
        ) : (
          plugin.name
        )
      }
      deletePath={({ id }) => `/api/v1/trust-rules/${id}`}
    >
      With a rule, jobs of a repository on GitHub, GitLab, Forgejo, or elsewhere run <code>tenon plugin push</code>{' '}
      without a token.
    </TrustRuleSection>
  );
}

import type { QuotaUse } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { type Quota, QuotaTable } from '../../components/quotas/quota-table.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { overridesPath, SetQuotaDialog } from './set-quota-dialog.tsx';

/** The quotas of a user, for operators, who can set them. */
export function UserQuotasSection({ userId }: { readonly userId: string }) {
  const { session } = useServices();
  const path = overridesPath(userId);
  const use = useCachedData(path, (signal) => session.api.get<QuotaUse>(path, { signal }));
  const [changed, setChanged] = useState<Quota>();
  return (
    <Section title="Quotas" intro="What the account may use. You can set each for this account.">
      <Loaded of={use}>
        {({ quotas }) => (
          <QuotaTable
            quotas={quotas}
            actions={(quota) => (
              <Button kind="quiet" isSmall label={`Set ${quota.name}`} onClick={() => setChanged(quota)}>
                Set…
              </Button>
            )}
          />
        )}
      </Loaded>
      {changed === undefined ? null : (
        <SetQuotaDialog subjectId={userId} quota={changed} onSet={use.reload} onClose={() => setChanged(undefined)} />
      )}
    </Section>
  );
}

import type { QuotaUse } from '@tenon/protocol';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { Loaded } from '../loaded.tsx';
import { Section } from '../page.tsx';
import { QuotaTable } from './quota-table.tsx';

/** The quotas of the account, or of an application. */
export function QuotasSection({ path, intro }: { readonly path: string; readonly intro: string }) {
  const { session } = useServices();
  const use = useCachedData(path, (signal) => session.api.get<QuotaUse>(path, { signal }));
  return (
    <Section title="Quotas" intro={intro}>
      <Loaded of={use}>{({ quotas }) => <QuotaTable quotas={quotas} />}</Loaded>
    </Section>
  );
}

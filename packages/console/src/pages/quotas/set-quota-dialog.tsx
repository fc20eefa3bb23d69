import type { QuotaUse } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { type Quota, quotaText } from '../../components/quotas/quota-table.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useSubmit } from '../../state/use-submit.ts';

const units: Readonly<Record<string, number>> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Reads a number, or a size such as `50 GiB`. Returns `undefined` for another text. */
export function parseLimit(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^\s*(\d[\d,]*)\s*([A-Za-z]*)\s*$/.exec(text) ?? [];
  const factor = units[unit];
  const value = Number(digits.replaceAll(',', '')) * (factor ?? Number.NaN);
  return digits !== '' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The API path of the overrides of an account or an application. */
export function overridesPath(subjectId: string): string {
  return `/api/v1/quota-overrides/${encodeURIComponent(subjectId)}`;
}

/** Sets a quota of an account or an application. The API client asks for the password if the server requires it. */
export function SetQuotaDialog({
  subjectId,
  quota,
  onSet,
  onClose,
}: {
  readonly subjectId: string;
  /** The quota; by default, the user chooses one. */
  readonly quota?: Quota;
  readonly onSet: () => void;
  readonly onClose: () => void;
}) {
  const { session, toasts } = useServices();
  const path = overridesPath(subjectId);
  const use = useCachedData(path, (signal) => session.api.get<QuotaUse>(path, { signal }));
  const [chosen, setChosen] = useState(quota?.name);
  const [text, setText] = useState('');
  const limit = parseLimit(text);
  const quotas = use.status === 'ready' ? use.data.quotas : [];
  const name = chosen ?? quotas[0]?.name ?? '';
  const current = quotas.find((one) => one.name === name);
  const form = useSubmit(async () => {
    await session.api.put<void>(`${path}/${encodeURIComponent(name)}`, { limit });
    toasts.show(`Set ${name}.`);
    onSet();
    onClose();
  }, ['limit']);
  return (
    <FormDialog
      title="Set a quota"
      action="Set quota"
      missing={limit === undefined ? 'Enter a whole number, or a size such as 50 GiB.' : undefined}
      form={form}
      onClose={onClose}
    >
      <Loaded of={use}>
        {() => (
          <>
            <SelectField
              label="Quota"
              name="quota"
              value={name}
              onChange={setChosen}
              options={quotas.map((one) => ({ value: one.name, label: `${one.name}: ${one.what}` }))}
            />
            <TextField
              label="Limit"
              name="limit"
              value={text}
              onInput={setText}
              error={form.fieldError('limit')}
              hasFocus
              hint={
                current === undefined
                  ? undefined
                  : `At present ${quotaText(current, current.limit)}, of which ${quotaText(current, current.used)} are used.`
              }
            />
          </>
        )}
      </Loaded>
    </FormDialog>
  );
}

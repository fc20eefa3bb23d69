import type { Version } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { useServices } from '../../state/services.ts';
import { Effects } from './effects.tsx';
import { boundBy, type Claim, type PluginModel } from './plugin-model.ts';

interface PinProps {
  readonly claim: Claim;
  readonly model: PluginModel;
  readonly guests: ReadonlyMap<string, string>;
  /** Where the pin is in the API. */
  readonly apiPath: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Holds what is bound under one guest at a version. */
export function PinDialog(props: PinProps & { readonly versions: readonly Version[] }) {
  const { claim, model, versions, guests, apiPath, onDone, onClose } = props;
  const { session, toasts } = useServices();
  const published = versions.filter(({ state }) => state === 'published');
  const present = boundBy(model, claim) ?? published[0]?.number ?? 0;
  const [version, setVersion] = useState(present);
  const name = guests.get(claim.guestId) ?? 'this guest';
  return (
    <ConfirmDialog
      title={`Pin a version for ${name}`}
      action={`Pin version ${version}`}
      isDangerous={false}
      missing={version === claim.pinnedTo ? 'Choose another version first.' : undefined}
      onClose={onClose}
      onConfirm={async () => {
        await session.api.put(apiPath, { version });
        onClose();
        toasts.show(`Pinned to version ${version}.`);
        onDone();
      }}
    >
      <p>
        The guest gets this version and no other, whatever is published or rolled back, until you unpin it. If the
        version is yanked, the guest gets nothing.
      </p>
      <SelectField
        label="Version"
        name="version"
        value={String(version)}
        onChange={(value) => setVersion(Number(value))}
        options={published.map(({ number, semver }) => ({
          value: String(number),
          label: `Version ${number}${semver === null ? '' : ` (${semver})`}`,
        }))}
      />
      <Effects model={model} change={{ kind: 'pin', guestId: claim.guestId, version }} guests={guests} />
    </ConfirmDialog>
  );
}

export function UnpinDialog({ claim, model, guests, apiPath, onDone, onClose }: PinProps) {
  const { session, toasts } = useServices();
  return (
    <ConfirmDialog
      title={`Unpin for ${guests.get(claim.guestId) ?? 'this guest'}?`}
      action="Unpin"
      isDangerous={false}
      onClose={onClose}
      onConfirm={async () => {
        await session.api.delete(apiPath);
        onClose();
        toasts.show('It is pinned no more.');
        onDone();
      }}
    >
      <p>What the guest gets follows the publisher again: the newest version, or the one that was rolled back to.</p>
      <Effects model={model} change={{ kind: 'unpin', guestId: claim.guestId }} guests={guests} />
    </ConfirmDialog>
  );
}

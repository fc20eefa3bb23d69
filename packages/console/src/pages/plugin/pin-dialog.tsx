import type { Version } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { SelectField } from '../../components/field.tsx';
import { ActionDialog, type ActionDialogProps } from './action-dialog.tsx';
import { undoOfPinning } from './undo-action.ts';
import type { Binding } from './version-actions.ts';

interface PinProps extends ActionDialogProps {
  readonly binding: Binding;
  /** What to call the guest. */
  readonly guest: string;
  /** The pin's path in the API. */
  readonly apiPath: string;
}

/** Pins a guest's binding to a version. */
export function PinDialog(props: PinProps & { readonly versions: readonly Version[] }) {
  const { binding, guest, versions, apiPath } = props;
  const published = versions.filter(({ state }) => state === 'published');
  const [version, setVersion] = useState(binding.version ?? published[0]?.number ?? 0);
  return (
    <ActionDialog
      {...props}
      words={{
        title: `Pin a version for ${guest}`,
        text: 'The guest keeps this version, whatever is published or rolled back, until you unpin it. If the version is yanked, the guest gets nothing.',
        button: `Pin version ${version}`,
        done: `Pinned to version ${version}.`,
      }}
      action={{ method: 'PUT', path: apiPath, json: { version } }}
      undo={undoOfPinning(binding, apiPath)}
      missing={version === binding.pinnedTo ? 'Choose another version first.' : undefined}
    >
      <SelectField
        label="Version"
        name="version"
        hasFocus
        value={String(version)}
        onChange={(value) => setVersion(Number(value))}
        options={published.map(({ number, semver }) => ({
          value: String(number),
          label: `Version ${number}${semver === null ? '' : ` (${semver})`}`,
        }))}
      />
    </ActionDialog>
  );
}

export function UnpinDialog(props: PinProps) {
  return (
    <ActionDialog
      {...props}
      words={{
        title: `Unpin for ${props.guest}?`,
        text: 'The guest follows the publisher again: it gets the newest version, or the one that was rolled back to.',
        button: 'Unpin',
        done: 'Unpinned.',
      }}
      action={{ method: 'DELETE', path: props.apiPath }}
      undo={undoOfPinning(props.binding, props.apiPath)}
    />
  );
}
